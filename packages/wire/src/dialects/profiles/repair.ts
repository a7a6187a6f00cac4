import { isJsonObject, ownMember, SmallMap } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "../../model/input.js";
import { isEventType } from "../../model/table.js";
import { createNoteSink } from "../note.js";
import type { DialectNote, DialectRule } from "../note.js";
import { deviationsOf } from "./profiles.js";
import type { DeviationId, EmitterProfile } from "./profiles.js";
import { RepeatedCalls } from "./repeated-calls.js";

/** The requested run, as far as a repairer needs it. */
export type RepairOptions = {
  profile: EmitterProfile;
  /** The request: its ids and the calls of its history. */
  input: Pick<RunAgentInput, "threadId" | "runId" | "messages">;
  /** Whether the agent ends the stream after its run. A finish is held only there: nothing else would release it. */
  endsByItself: boolean;
  /**
   * Whether the request is one of an MCP App, which its middleware answers under the run id as thread id. With `false` such an id is never
   * replaced; without it, where the profile says so.
   */
  isAppRequest?: boolean;
};

/** The replacement of one event that does not pass unchanged. */
export type RepairResult = { events: JsonObject[]; notes: DialectNote[] };

/** Repairs the known deviations of one stream's framework, after translation and before enforcement. */
export type Repairer = {
  /** `undefined` where the event passes as it is. */
  push(event: JsonObject): RepairResult | undefined;
  /** The stream is over; `isCut` when it broke off, so that no held finish may count. */
  end(isCut: boolean): RepairResult | undefined;
};

/** Runs whose ids are remembered; a stream with more has no finish repaired any more. */
const MAX_RUNS = 1024;

/** Results that wait for the start of their run; a person approves few calls at once. */
const MAX_EARLY_RESULTS = 64;

/** Calls of one stream whose message is remembered; of more, no result is repaired. */
const MAX_CALLS = 1024;

/** Steps of one stream whose reasoning message is remembered; of more, no encrypted value is repaired. */
const MAX_STEPS = 1024;

/** Makes the repairer of one stream; none where the profile repairs nothing. */
export function createRepairer(options: RepairOptions): Repairer | undefined {
  const repairs = deviationsOf(options.profile);
  return repairs.size === 0 ? undefined : new StreamRepairer(options, repairs);
}

type OpenRun = { readonly threadId: string; readonly runId: string };

class StreamRepairer implements Repairer {
  readonly #options: RepairOptions;
  readonly #repairs: ReadonlySet<DeviationId>;
  readonly #calls: RepeatedCalls | undefined;
  readonly #runIds = new SmallMap<string, true>();
  /** The message that made each call of this stream. */
  readonly #callers = new SmallMap<string, string>();
  /** The reasoning message that was open when each step started. */
  readonly #reasoned = new SmallMap<string, string>();
  #reasoning: string | undefined;
  #open: OpenRun | undefined;
  #isErrored = false;
  /** Results that came before anything else; none any more once another event came. */
  #early: JsonObject[] | undefined;
  /** A finish that may be early. */
  #finish: JsonObject | undefined;
  #eventNumber = 0;

  constructor(options: RepairOptions, repairs: ReadonlySet<DeviationId>) {
    this.#options = options;
    this.#repairs = repairs;
    if (repairs.has("result-before-start")) this.#early = [];
    if (repairs.has("repeated-call")) this.#calls = new RepeatedCalls(options.input.messages);
  }

  push(event: JsonObject): RepairResult | undefined {
    this.#eventNumber += 1;
    const type = ownMember(event, "type");
    const isHolding = this.#calls?.isHolding === true || this.#early !== undefined;
    if (this.#finish === undefined && !isHolding) {
      // Most events are deltas of text: nothing below is about them.
      if (typeof type !== "string" || !LOOK_CLOSER.has(type)) return undefined;
    }
    const rules: DialectRule[] = [];
    const events: JsonObject[] = [];
    for (const whole of this.#calls?.push(event, rules) ?? [event]) {
      events.push(...this.#follow(whole, rules));
    }
    if (rules.length === 0 && events.length === 1 && events[0] === event) return undefined;
    return { events, notes: this.#notes(rules) };
  }

  end(isCut: boolean): RepairResult | undefined {
    const rules: DialectRule[] = [];
    const events: JsonObject[] = [];
    for (const held of this.#calls?.end() ?? []) events.push(...this.#follow(held, rules));
    events.push(...(this.#early ?? []));
    this.#early = undefined;
    if (this.#finish !== undefined && !isCut) events.push(this.#finish);
    this.#finish = undefined;
    if (events.length + rules.length === 0) return undefined;
    return { events, notes: this.#notes(rules) };
  }

  /** The finish that was held, if it counts, and what becomes of this event. */
  #follow(event: JsonObject, rules: DialectRule[]): JsonObject[] {
    const type = ownMember(event, "type");
    // An event that enforcement will drop has no effect on the run.
    if (typeof type !== "string" || !isEventType(type)) return [event];
    const early = this.#early ?? [];
    if (type === "TOOL_CALL_RESULT" && this.#early !== undefined) {
      if (this.#early.push(this.#withOwnId(event, rules)) <= MAX_EARLY_RESULTS) return [];
      this.#early = undefined;
      return early;
    }
    this.#early = undefined;
    if (type === "RUN_STARTED") {
      rules.push(...early.map(() => "early-result-moved" as const));
      return [...this.#releaseFinish(event, type, rules), ...this.#start(event, rules), ...early];
    }
    const before = [...early, ...this.#releaseFinish(event, type, rules)];
    switch (type) {
      case "RUN_FINISHED":
        return [...before, ...this.#end(event, rules)];
      case "RUN_ERROR":
        this.#open = undefined;
        this.#isErrored = true;
        return [...before, event];
      case "TOOL_CALL_START":
        this.#noteCaller(event);
        return [...before, event];
      case "TOOL_CALL_RESULT":
        return [...before, this.#withOwnId(event, rules)];
      case "REASONING_ENCRYPTED_VALUE":
        return [...before, this.#withReasoningId(event, rules)];
      case "REASONING_MESSAGE_START":
      case "REASONING_MESSAGE_END":
      case "TEXT_MESSAGE_START":
      case "STEP_STARTED":
        this.#noteReasoning(event, type);
        return [...before, event];
      default:
        return [...before, event];
    }
  }

  #noteCaller(event: JsonObject): void {
    const [id, caller] = [ownMember(event, "toolCallId"), ownMember(event, "parentMessageId")];
    if (typeof id !== "string" || typeof caller !== "string") return;
    if (this.#callers.size < MAX_CALLS && !this.#callers.has(id)) this.#callers.set(id, caller);
  }

  #noteReasoning(event: JsonObject, type: string): void {
    const id = ownMember(event, type === "STEP_STARTED" ? "stepName" : "messageId");
    if (typeof id !== "string") return;
    if (type !== "STEP_STARTED") {
      // An encrypted value for this id is for the message.
      this.#reasoned.delete(id);
      this.#reasoning = type === "REASONING_MESSAGE_START" ? id : undefined;
    } else if (this.#reasoning !== undefined && this.#reasoned.size < MAX_STEPS) {
      this.#reasoned.set(id, this.#reasoning);
    }
  }

  /** Only under the name of a step of this stream: a value for any other entity is the gateway's to judge. */
  #withReasoningId(event: JsonObject, rules: DialectRule[]): JsonObject {
    if (!this.#repairs.has("encrypted-value-of-step")) return event;
    if (ownMember(event, "subtype") !== "message") return event;
    const entityId = ownMember(event, "entityId");
    const reasoning = typeof entityId === "string" ? this.#reasoned.get(entityId) : undefined;
    if (reasoning === undefined) return event;
    if (this.#options.input.messages.some(({ id }) => id === entityId)) return event;
    rules.push("encrypted-value-entity-replaced");
    return { ...event, entityId: reasoning };
  }

  /** Under the id of its own call's message alone: a result that takes any other id is the gateway's to judge. */
  #withOwnId(event: JsonObject, rules: DialectRule[]): JsonObject {
    const [id, messageId] = [ownMember(event, "toolCallId"), ownMember(event, "messageId")];
    if (!this.#repairs.has("result-message-id") || typeof id !== "string") return event;
    if (messageId !== (this.#callers.get(id) ?? this.#callerInHistory(id))) return event;
    if (typeof messageId !== "string") return event;
    rules.push("result-message-id-replaced");
    return { ...event, messageId: `${id}-result` };
  }

  #callerInHistory(callId: string): string | undefined {
    return this.#options.input.messages.find(
      (message) =>
        message.role === "assistant" && message.toolCalls?.some(({ id }) => id === callId) === true,
    )?.id;
  }

  /** Another run or a late error may follow a finish; anything else shows that it was early. */
  #releaseFinish(event: JsonObject, type: string, rules: DialectRule[]): JsonObject[] {
    const finish = this.#finish;
    if (finish === undefined) return [];
    this.#finish = undefined;
    const isOtherRun = type === "RUN_STARTED" && ownMember(event, "runId") !== this.#open?.runId;
    if (isOtherRun || type === "RUN_ERROR") {
      this.#open = undefined;
      return [finish];
    }
    rules.push("early-finish-dropped");
    return [];
  }

  #start(event: JsonObject, rules: DialectRule[]): JsonObject[] {
    const started = this.#withRequestedThread(event, rules);
    const threadId = ownMember(started, "threadId");
    const runId = ownMember(started, "runId");
    if (typeof threadId !== "string" || typeof runId !== "string") return [started];
    const open = this.#open;
    if (open !== undefined && open.runId === runId && open.threadId === threadId) {
      if (!this.#repairs.has("repeated-start")) return [started];
      rules.push("repeated-start-dropped");
      return [];
    }
    this.#open = { threadId, runId };
    this.#isErrored = false;
    if (this.#runIds.size <= MAX_RUNS) this.#runIds.set(runId, true);
    return [started];
  }

  #end(event: JsonObject, rules: DialectRule[]): JsonObject[] {
    if (this.#isErrored && this.#repairs.has("finish-after-error")) {
      rules.push("finish-after-error-dropped");
      return [];
    }
    const open = this.#open;
    if (open === undefined) return [event];
    const finished = this.#withOpenRun(this.#withRequestedThread(event, rules), open, rules);
    if (this.#mayBeEarly(finished)) {
      this.#finish = finished;
      return [];
    }
    this.#open = undefined;
    return [finished];
  }

  /** Only the run id of this request as a thread id is one: it cannot name the thread of another person. */
  #withRequestedThread(event: JsonObject, rules: DialectRule[]): JsonObject {
    const { input, isAppRequest } = this.#options;
    const { threadId, runId } = input;
    if (!this.#repairs.has("thread-is-run") || isAppRequest === false) return event;
    if (threadId === runId) return event;
    if (ownMember(event, "threadId") !== runId || ownMember(event, "runId") !== runId) return event;
    rules.push("thread-id-replaced");
    return { ...event, threadId };
  }

  /** The finish of a run that is known by its own id stays what it is: it would finish another. */
  #withOpenRun(event: JsonObject, open: OpenRun, rules: DialectRule[]): JsonObject {
    const runId = ownMember(event, "runId");
    if (!this.#repairs.has("finish-run-id") || runId === open.runId) return event;
    if (typeof runId !== "string" || ownMember(event, "threadId") !== open.threadId) return event;
    if (this.#runIds.has(runId) || this.#runIds.size > MAX_RUNS) return event;
    rules.push("finish-run-id-replaced");
    return { ...event, runId: open.runId };
  }

  #mayBeEarly(finish: JsonObject): boolean {
    if (!this.#repairs.has("early-finish") || !this.#options.endsByItself) return false;
    return this.#options.profile === "tanstack" || finishReason(finish) === "tool_calls";
  }

  #notes(rules: readonly DialectRule[]): DialectNote[] {
    const notes: DialectNote[] = [];
    const note = createNoteSink(notes, this.#eventNumber);
    for (const rule of rules) note(rule);
    return notes;
  }
}

const LOOK_CLOSER: ReadonlySet<string> = new Set([
  "RUN_STARTED",
  "RUN_FINISHED",
  "RUN_ERROR",
  "TOOL_CALL_START",
  "TOOL_CALL_END",
  "TOOL_CALL_RESULT",
  "REASONING_MESSAGE_START",
  "REASONING_MESSAGE_END",
  "REASONING_ENCRYPTED_VALUE",
  "TEXT_MESSAGE_START",
  "STEP_STARTED",
]);

/** TanStack AI says why the model stopped, beside the protocol or in its own metadata. */
function finishReason(event: JsonObject): unknown {
  const metadata = ownMember(event, "metadata");
  const own = isJsonObject(metadata) ? ownMember(metadata, "tanstack") : undefined;
  const kept = isJsonObject(own) ? ownMember(own, "finishReason") : undefined;
  return kept ?? ownMember(event, "finishReason");
}
