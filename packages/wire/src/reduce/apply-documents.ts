import type { JsonObject, JsonValue } from "@countersign/core";
import type {
  ActivityDeltaEvent,
  ActivitySnapshotEvent,
  MessagesSnapshotEvent,
  StateDeltaEvent,
  StateSnapshotEvent,
} from "../model/event.js";
import type { ActivityMessage, Message } from "../model/message.js";
import { applyJsonPatch } from "./json-patch.js";
import { equalJson, isContainer, shareStructure } from "./json-structure.js";
import type { RunModel } from "./run-model.js";

/** Replaces the state, null and false included; equal parts keep their identity. */
export function applyStateSnapshot(model: RunModel, event: StateSnapshotEvent): void {
  const state = shareStructure(model.state, event.snapshot);
  if (state === model.state) return;
  model.state = state;
  model.stateSize = undefined;
  model.changed();
}

/** Patches the state; a patch that does not apply leaves it as it was. */
export function applyStateDelta(model: RunModel, event: StateDeltaEvent): void {
  const result = applyJsonPatch(model.state, event.delta, model.limits, model.stateSize);
  if (!result.applied) return;
  model.stateSize = result.size;
  if (result.document === model.state) return;
  model.state = result.document;
  model.changed();
}

/**
 * Restates the conversation: known ids are replaced in place, unseen ones appended, absent ones
 * dropped, except activities and reasoning that the snapshot's author does not keep.
 */
export function applyMessagesSnapshot(model: RunModel, event: MessagesSnapshotEvent): void {
  const incoming = new Map(event.messages.map((message) => [message.id, message]));
  const survives = survivorRule(event);
  const merged: Message[] = [];
  const known = new Set<string>();
  for (const message of model.store.view()) {
    const replacement = incoming.get(message.id);
    if (replacement === undefined && !survives(message)) continue;
    known.add(message.id);
    merged.push(replacement === undefined ? message : sameOrNew(message, replacement));
  }
  for (const message of event.messages) if (!known.has(message.id)) merged.push(message);
  const before = model.store.view();
  if (merged.length === before.length && merged.every((message, i) => message === before[i]))
    return;
  model.store.reset(merged);
  model.recount();
  model.changed();
}

function sameOrNew(known: Message, incoming: Message): Message {
  const same = equalJson(known as unknown as JsonValue, incoming as unknown as JsonValue);
  return same ? known : incoming;
}

/** Which messages stay although the snapshot leaves them out. */
function survivorRule(event: MessagesSnapshotEvent): (message: Message) => boolean {
  const keepsActivity = activitySurvival(event);
  const hasReasoning = event.messages.some((message) => message.role === "reasoning");
  return (message) => {
    if (message.role === "reasoning") return !hasReasoning;
    return message.role === "activity" && keepsActivity(message.activityType);
  };
}

/**
 * Which types of activities stay on the screen although a message list leaves them out. One of unknown type stays
 * where every type does.
 */
export function activitySurvival(
  event: MessagesSnapshotEvent,
): (activityType: string | undefined) => boolean {
  const owned = declaredActivityTypes(event.metadata);
  const hasActivity = event.messages.some((message) => message.role === "activity");
  return (type) => {
    if (owned === "all") return false;
    if (owned === "undeclared") return !hasActivity;
    return type === undefined ? owned.length === 0 : !owned.includes(type);
  };
}

/**
 * The activity types a snapshot says it keeps in full, by the official client's vendor key.
 *
 * Null means all; what is malformed grants nothing, so that a bad declaration deletes nothing.
 */
function declaredActivityTypes(
  metadata: JsonObject | undefined,
): readonly string[] | "all" | "undeclared" {
  const key = "@ag-ui/client";
  if (metadata === undefined || !Object.hasOwn(metadata, key)) return "undeclared";
  const declaration = metadata[key];
  if (!isContainer(declaration) || Array.isArray(declaration)) return [];
  if (!Object.hasOwn(declaration, "authoritativeActivityTypes")) return "undeclared";
  const types = declaration["authoritativeActivityTypes"];
  if (types === null) return "all";
  if (!Array.isArray(types)) return [];
  const names = types.filter((type) => typeof type === "string");
  return names.length === types.length ? names : [];
}

/** Creates an activity or replaces its content, type and owner; `replace: false` only creates. */
export function applyActivitySnapshot(model: RunModel, event: ActivitySnapshotEvent): void {
  const entry = model.store.find(event.messageId);
  const message: ActivityMessage = {
    id: event.messageId,
    role: "activity",
    activityType: event.activityType,
    content: event.content,
  };
  if (event.subagentRunId !== undefined) message.subagentRunId = event.subagentRunId;
  const known = entry?.current;
  const replace = event.replace !== false;
  if (entry === undefined || known === undefined) {
    model.mergeMetadata(message, event.metadata);
    model.hold(model.measure(event.content) + 64);
    model.store.append(message);
  } else if (known.role !== "activity") {
    if (!replace) return;
    model.mergeMetadata(message, event.metadata);
    model.hold(model.measure(event.content) - model.measure(known as unknown as JsonValue));
    model.store.replace(entry, message);
  } else {
    if (!replace && event.metadata === undefined) return;
    const next: ActivityMessage = replace ? message : { ...known };
    if (replace) {
      model.hold(model.measure(event.content) - model.measure(known.content));
      next.content = shareStructure(known.content, event.content) as JsonObject;
      if (known.metadata !== undefined) next.metadata = known.metadata;
    }
    model.mergeMetadata(next, event.metadata);
    model.store.replace(entry, next);
  }
  model.messagesChanged();
}

/** Patches an activity's content; its metadata is merged even when the patch does not apply. */
export function applyActivityDelta(model: RunModel, event: ActivityDeltaEvent): void {
  const entry = model.store.find(event.messageId);
  const known = entry?.current;
  if (entry === undefined || known?.role !== "activity") return;
  const next: ActivityMessage = { ...known };
  const merged = model.mergeMetadata(next, event.metadata);
  const size = model.measure(known.content);
  const result = applyJsonPatch(known.content, event.patch, model.limits, size);
  // The content of an activity is an object; a patch that makes it anything else does not apply.
  const applies = result.applied && isContainer(result.document) && !Array.isArray(result.document);
  if (applies) {
    model.hold(result.size - size);
    next.content = result.document as JsonObject;
    next.activityType = event.activityType;
  }
  if (!applies && !merged) return;
  model.store.replace(entry, next);
  model.messagesChanged();
}
