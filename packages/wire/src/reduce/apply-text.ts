import type {
  ReasoningEncryptedValueEvent,
  ReasoningMessageContentEvent,
  ReasoningMessageEndEvent,
  ReasoningMessageStartEvent,
  TextMessageContentEvent,
  TextMessageEndEvent,
  TextMessageStartEvent,
} from "../model/event.js";
import type { Message } from "../model/message.js";
import type { MessageEntry } from "./message-entry.js";
import type { RunModel } from "./run-model.js";

/** An activity under the id keeps its structured content: text for it is dropped. */
function textTarget(model: RunModel, id: string): MessageEntry | undefined {
  const entry = model.store.find(id);
  return entry?.current.role === "activity" ? undefined : entry;
}

/** A new message, or more text for a known one, whose role and name stay. */
export function applyTextStart(
  model: RunModel,
  event: TextMessageStartEvent | ReasoningMessageStartEvent,
): void {
  const known = model.store.find(event.messageId);
  if (known?.current.role === "activity") return;
  let entry = known;
  if (entry === undefined) {
    entry = model.store.append(newMessage(event));
    model.hold(event.messageId.length + 64);
    model.changed();
  }
  if (event.metadata !== undefined && model.mergeMetadata(entry.draft(), event.metadata)) {
    model.messagesChanged();
  }
}

function newMessage(event: TextMessageStartEvent | ReasoningMessageStartEvent): Message {
  const owner = event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId };
  if (event.type === "REASONING_MESSAGE_START") {
    return { id: event.messageId, role: "reasoning", content: "", ...owner };
  }
  return {
    id: event.messageId,
    role: event.role ?? "assistant",
    content: "",
    ...(event.name !== undefined && { name: event.name }),
    ...owner,
  };
}

/** Appends text: one string append, whatever the length so far. */
export function applyTextContent(
  model: RunModel,
  event: TextMessageContentEvent | ReasoningMessageContentEvent,
): void {
  const entry = textTarget(model, event.messageId);
  if (entry === undefined) return;
  model.hold(event.delta.length);
  entry.appendText(event.delta);
  model.mergeMetadata(entry.draft(), event.metadata);
  model.messagesChanged();
}

/** Only its metadata matters: what is known at the end, such as usage. */
export function applyTextEnd(
  model: RunModel,
  event: TextMessageEndEvent | ReasoningMessageEndEvent,
): void {
  if (event.metadata === undefined) return;
  const entry = textTarget(model, event.messageId);
  if (entry === undefined) return;
  model.mergeMetadata(entry.draft(), event.metadata);
  model.messagesChanged();
}

/** Sets the opaque value on the call or message; an unknown one is ignored. */
export function applyEncryptedValue(model: RunModel, event: ReasoningEncryptedValueEvent): void {
  if (event.subtype === "tool-call") {
    const place = model.store.findCall(event.entityId);
    const call = place?.entry.draftCall(place.position);
    if (call === undefined) return;
    encrypt(model, call, event);
  } else {
    const entry = textTarget(model, event.entityId);
    if (entry === undefined) return;
    encrypt(model, entry.draft(), event);
  }
  model.messagesChanged();
}

type Encrypted = { encryptedValue?: string; encryptedValueType?: string };

/** The kind goes with its value: a new value without one leaves none. */
function encrypt(
  model: RunModel,
  target: Encrypted,
  { encryptedValue, encryptedValueType }: ReasoningEncryptedValueEvent,
): void {
  model.hold(encryptedLength({ encryptedValue, encryptedValueType }) - encryptedLength(target));
  target.encryptedValue = encryptedValue;
  if (encryptedValueType === undefined) delete target.encryptedValueType;
  else target.encryptedValueType = encryptedValueType;
}

function encryptedLength(held: {
  encryptedValue?: string | undefined;
  encryptedValueType?: string | undefined;
}): number {
  return (held.encryptedValue?.length ?? 0) + (held.encryptedValueType?.length ?? 0);
}
