import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceDrawing, SurfaceModel, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent } from "@countersign/wire";
import { applyJsonPatch, createReducer } from "@countersign/wire/reduce";
import { clicksIn } from "./clicks.js";
import type { KeptRun } from "./read-run-before.js";
import { deliveredIn } from "./steps.js";

/** The interface that an event drew, or would have drawn. */
export type Drawn = {
  readonly surfaces: readonly SurfaceDrawing[];
  /** Why it is not known what a client shows, one sentence each. */
  readonly problems: readonly string[];
  /** The reason of the denial; it names the component that decided. */
  readonly reason: string | undefined;
};

/** The interfaces of a run. */
export type Drawings = {
  /** By the entry of the event. */
  readonly drawn: ReadonlyMap<number, Drawn>;
  /** By the entry of a request: the label of each of its clicks, if the run knows it. */
  readonly labels: ReadonlyMap<number, readonly (string | undefined)[]>;
};

/** Components of one surface that are drawn; a page with more is slow and no person reads it. */
export const MAX_COMPONENTS = 200;

/** Characters of all payloads of a run that are read, so that a hostile run does not stop the page. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const LIMITS = { maxComponents: 2_000, maxInstances: 2_000, maxModelLength: 2 * 1024 * 1024 };

type Payload = Readonly<Record<string, unknown>>;

/**
 * Reads the interfaces of a run in order. A blocked event is drawn and then taken back.
 *
 * @param before an earlier run of the thread, whose interfaces the person still has
 */
export function drawingsOf(run: KeptRun, before?: KeptRun): Drawings {
  const reader = new Reader();
  if (before !== undefined) readRun(reader, before);
  return readRun(reader, run);
}

function readRun(reader: Reader, { entries, payloads }: KeptRun): Drawings {
  const isDelivered = deliveredIn(entries);
  const drawn = new Map<number, Drawn>();
  const labels = new Map<number, (string | undefined)[]>();
  for (const entry of entries) {
    const payload = payloads.get(entry.seq) as JsonValue | undefined;
    if (!isJsonObject(payload)) continue;
    if (entry.direction === "inbound") {
      labels.set(entry.seq, reader.readRequest(payload));
      continue;
    }
    const { allowed, denial_reason: reason } = entry.receipt;
    if (allowed && !isDelivered(entry)) continue;
    const one = reader.readEvent(payload, allowed ? undefined : reason, !allowed);
    if (one !== undefined) drawn.set(entry.seq, one);
  }
  return { drawn, labels };
}

class Reader {
  readonly #model: SurfaceModel = createSurfaceModel({ limits: LIMITS });
  readonly #reducer = createReducer();
  /** Arguments of tool calls, blocked ones too: a blocked call was never sent. */
  readonly #calls = new Map<string, { readonly name: string; text: string }>();
  #characters = 0;

  /** Draws what a client sends back, and finds the labels of the clicks. */
  readRequest(input: Payload): (string | undefined)[] {
    const messages = Array.isArray(input["messages"]) ? (input["messages"] as JsonValue[]) : [];
    const clicks = clicksIn(input);
    // Requests repeat the conversation; only a click asks for what was drawn.
    if (clicks.length > 0) for (const message of messages) this.#readMessage(message);
    return clicks.map((click) =>
      click.kind === "press"
        ? this.#model.findAction(click.surfaceId, click.componentId, click.action)?.label
        : undefined,
    );
  }

  /** Draws an event; undefined when it draws nothing. */
  readEvent(event: Payload, reason: string | undefined, isBlocked: boolean): Drawn | undefined {
    if (event["type"] === "MESSAGES_SNAPSHOT") return this.#readList(event, reason, isBlocked);
    return this.#draw(this.#payloadOf(event, isBlocked), reason, isBlocked);
  }

  /** Draws the messages of a list that the person did not have; a list repeats the others. */
  #readList(list: Payload, reason: string | undefined, isBlocked: boolean): Drawn | undefined {
    const messages = Array.isArray(list["messages"]) ? (list["messages"] as JsonValue[]) : [];
    if (!isBlocked) this.#follow(list);
    const drawn = messages
      .flatMap((message) => payloadsOfMessage(message))
      .flatMap((payload) => this.#draw(payload, reason, isBlocked, true) ?? []);
    if (drawn.length === 0) return undefined;
    return {
      surfaces: drawn.flatMap(({ surfaces }) => surfaces),
      problems: [...new Set(drawn.flatMap(({ problems }) => problems))],
      reason,
    };
  }

  /** A list removes the activities that it leaves out. */
  #follow(list: Payload): void {
    const before = this.#activityIds();
    try {
      this.#reducer.push(list as AgUiEvent);
    } catch {
      return;
    }
    const after = new Set(this.#activityIds());
    const messageIds = before.filter((id) => !after.has(id));
    if (messageIds.length > 0) this.#model.apply({ kind: "removal", messageIds });
  }

  #activityIds(): string[] {
    const { messages } = this.#reducer.snapshot();
    return messages.filter(({ role }) => role === "activity").map(({ id }) => id);
  }

  #draw(
    payload: SurfacePayload | undefined,
    reason: string | undefined,
    isBlocked: boolean,
    isOnlyNew = false,
  ): Drawn | undefined {
    if (payload === undefined || payload.kind === "removal") return undefined;
    if (!this.#isWithin(payload)) {
      return { surfaces: [], problems: ["The run draws more than this page reads."], reason };
    }
    const facts = this.#model.apply(payload);
    const { kind } = payload;
    const source =
      kind === "activity"
        ? payload.messageId
        : kind === "resource"
          ? payload.sourceId
          : payload.toolCallId;
    const surfaces = facts.isSurface ? this.#model.drawings(source, MAX_COMPONENTS) : [];
    if (isBlocked) this.#model.undo();
    const isNew = facts.components.length > 0 || facts.problems.length > 0;
    if (!facts.isSurface || (isOnlyNew && !isNew)) return undefined;
    const problems = facts.problems.flatMap(({ isUndecided, sentence }) =>
      isUndecided ? withoutFix(sentence) : [],
    );
    return { surfaces, problems: [...new Set(problems)], reason };
  }

  #isWithin(payload: SurfacePayload): boolean {
    this.#characters += JSON.stringify(payload).length;
    return this.#characters <= MAX_CHARACTERS;
  }

  #readMessage(message: JsonValue): void {
    for (const payload of payloadsOfMessage(message)) {
      if (this.#isWithin(payload)) this.#model.apply(payload);
    }
  }

  #payloadOf(event: Payload, isBlocked: boolean): SurfacePayload | undefined {
    const { type, messageId, activityType, toolCallId: id } = event;
    if (type === "ACTIVITY_SNAPSHOT" || type === "ACTIVITY_DELTA") {
      if (typeof messageId !== "string" || typeof activityType !== "string") return undefined;
      const content = this.#activityAfter(event, messageId, isBlocked);
      return content === undefined
        ? undefined
        : { kind: "activity", messageId, activityType, content };
    }
    if (type === "RUN_FINISHED") {
      const { runId: sourceId, result } = event;
      return typeof sourceId === "string" && isJsonObject(result as JsonValue)
        ? { kind: "resource", sourceId, content: result as JsonValue }
        : undefined;
    }
    if (typeof id !== "string") return undefined;
    if (type === "TOOL_CALL_START") {
      this.#calls.set(id, { name: String(event["toolCallName"]), text: "" });
    } else if (type === "TOOL_CALL_ARGS") {
      const call = this.#calls.get(id);
      if (call !== undefined && typeof event["delta"] === "string") call.text += event["delta"];
    } else if (type === "TOOL_CALL_END") {
      const call = this.#calls.get(id);
      if (call === undefined) return undefined;
      return { kind: "arguments", toolCallId: id, ...call, complete: true };
    } else if (type === "TOOL_CALL_RESULT" && event["content"] !== undefined) {
      return { kind: "result", toolCallId: id, content: event["content"] as JsonValue };
    }
    return undefined;
  }

  /** The content of an activity as a client has it after the event, or would have it. */
  #activityAfter(event: Payload, messageId: string, isBlocked: boolean): JsonValue | undefined {
    try {
      if (!isBlocked) {
        this.#reducer.push(event as AgUiEvent);
        // The model keeps what it reads, and the reducer may patch it in place.
        return structuredClone(this.#activity(messageId));
      }
      if (event["type"] === "ACTIVITY_SNAPSHOT") return event["content"] as JsonValue | undefined;
      const before = this.#activity(messageId);
      if (before === undefined) return undefined;
      const result = applyJsonPatch(before, event["patch"] as never);
      return result.applied ? structuredClone(result.document) : undefined;
    } catch {
      // A patch or an event that no client applies draws nothing.
      return undefined;
    }
  }

  #activity(messageId: string): JsonValue | undefined {
    const found = this.#reducer.snapshot().messages.find(({ id }) => id === messageId);
    return found?.role === "activity" ? (found.content as JsonValue) : undefined;
  }
}

/** The interfaces in a message: an activity, the arguments of its calls, or the result of a tool. */
function payloadsOfMessage(message: JsonValue): SurfacePayload[] {
  const id = ownMember(message, "id");
  const content = ownMember(message, "content");
  const role = ownMember(message, "role");
  const calls = ownMember(message, "toolCalls");
  if (role === "assistant" && Array.isArray(calls)) return calls.flatMap(payloadOfCall);
  if (content === undefined) return [];
  if (role === "activity" && typeof id === "string") {
    const activityType = String(ownMember(message, "activityType"));
    return [{ kind: "activity", messageId: id, activityType, content }];
  }
  const toolCallId = ownMember(message, "toolCallId");
  return typeof toolCallId === "string" ? [{ kind: "result", toolCallId, content }] : [];
}

function payloadOfCall(call: JsonValue): SurfacePayload[] {
  const toolCallId = ownMember(call, "id");
  const name = ownMember(ownMember(call, "function"), "name");
  const text = ownMember(ownMember(call, "function"), "arguments");
  return typeof toolCallId === "string" && typeof name === "string" && typeof text === "string"
    ? [{ kind: "arguments", toolCallId, name, text, complete: true }]
    : [];
}

/** An operator reads what happened; the remedy is for the agent's developer. */
function withoutFix(sentence: string): string {
  return sentence.split(" Fix: ")[0] ?? sentence;
}
