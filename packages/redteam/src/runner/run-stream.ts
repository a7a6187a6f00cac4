import { CountersignError, isCountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";
import { ACCUMULATED_RESPONSE } from "../oatf/model/events.js";
import { createAccumulator } from "./accumulate.js";
import type { ActorContext } from "./actor-context.js";
import type { RunSink } from "./channel.js";
import { createToolCallNames } from "./correlate.js";
import {
  isAboutUsedIds,
  isDeliberate,
  isErrorAboutUsedIds,
  isRefusalEvent,
  readRefusal,
} from "./refusal.js";
import type { SentIds } from "./request.js";
import { createToolCalls } from "./tool-calls.js";
import type { ToolCalls } from "./tool-calls.js";
import { lengthOf, WIRE } from "./trace-recorder.js";

/** The answer to one request, as its actor sees it. */
export type RunStream = RunSink & {
  readonly input: JsonObject;
  /** Takes the way to stop listening. */
  listen(stop: () => void): void;
  stop(): void;
  answerCalls: (fill: (content: JsonValue) => JsonValue) => ReturnType<ToolCalls["answer"]>;
};

/** The callbacks of a stream. */
type Listener = {
  received(event: string, content: JsonObject): void;
  ended(stream: RunStream): void;
};

const TERMINAL = new Set(["run_finished", "run_error"]);
/** How long a stream may stay open after its run; what comes later is still recorded, then it is closed. */
const LINGER = { post: 1000, get: 1000, websocket: 100 } as const;
/** Evaluation refuses what is deeper than 64, visibly; so it has to get as far as the trace. */
const DEEPEST_EVENT = 256;
const SHOWN_OF_MALFORMED = 200;
const USED_IDS = "is about a thread or run that was used before, so the payload was not judged";

/** Reads the events of one run into the trace. */
export function createRunStream(
  place: {
    readonly actor: string;
    readonly phase: string;
    readonly input: JsonObject;
    readonly ids: SentIds;
    /** The attack is to use an id again, so that a refusal of that is an answer. */
    readonly conflictCounts: boolean;
    /** A later phase sends more, on the ground that this one prepares. */
    readonly hasLater: boolean;
    /** The event that the phase waits for. */
    readonly trigger: string | undefined;
  },
  context: ActorContext,
  listener: Listener,
  responses: JsonValue | undefined,
): RunStream {
  const record = createRunRecord(place, context);
  const missed = (message: string): void =>
    context.missed({ kind: "error", message: `${placeOf(place)}: ${message}` });
  const refusedEarly = (what: string): void => {
    if (!place.hasLater || place.conflictCounts) return;
    const message = `${placeOf(place)}: ${what}, so later phases attacked without this one`;
    context.missed({ kind: "cut_short", message });
  };
  const names = createToolCallNames();
  const accumulator = createAccumulator(place.input);
  const calls = createToolCalls();
  let malformedInRow = 0;
  let malformedFrames = 0;
  let events = 0;
  let isStarted = false;
  let isRefused = false;
  let isFinished = false;
  let isOver = false;
  let stopListening: () => void = () => {};
  let linger: NodeJS.Timeout | undefined;

  const giveUp = (reason: "trace" | "malformed", message: string): void => {
    end(new CountersignError("ERR_REDTEAM_STREAM", message, { reason }));
    stopListening();
  };
  const malformed = (json: string, code: string): void => {
    malformedInRow += 1;
    malformedFrames += 1;
    record.onWire("malformed", {
      code,
      text: json.slice(0, SHOWN_OF_MALFORMED),
      length: json.length,
    });
    if (malformedInRow >= context.limits.maxMalformedInRow) {
      giveUp("malformed", `${malformedInRow} frames in a row are not events`);
    }
  };
  const end = (failure: CountersignError | undefined): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(linger);
    // A run that has ended is whole, however its connection was closed.
    if (failure !== undefined && !isFinished) context.failed(failure, placeOf(place));
    else if (!isFinished && !isRefused) {
      missed(
        events === 0
          ? "the target sent no event"
          : "the stream ended without RUN_FINISHED or RUN_ERROR",
      );
    }
    for (const name of isFinished ? calls.open() : []) {
      missed(`the call of ${name.slice(0, 64)} has no end`);
    }
    if (malformedFrames > 0) missed(`${malformedFrames} frames of the stream are not events`);
    for (const { event, content } of context.strict ? [] : accumulator.entries()) {
      // The first repeats the texts of the run, the rest what the first has paid for.
      const cost = event === ACCUMULATED_RESPONSE ? lengthOf(content) : 0;
      record.event(event, content, content, cost);
    }
    listener.ended(stream);
  };
  const stream: RunStream = {
    input: place.input,
    listen(stop) {
      stopListening = stop;
      if (isOver) stop();
    },
    stop() {
      end(undefined);
      stopListening();
    },
    text(json) {
      if (isOver) return;
      const read = readEvent(json);
      if (read.event === undefined) {
        malformed(json, read.code);
        return;
      }
      malformedInRow = 0;
      const { event, value } = read;
      const content = names.enrich(event, value);
      if (!record.event(event, content, value, json.length)) {
        giveUp("trace", "the target sent more than the trace may hold");
        return;
      }
      events += 1;
      accumulator.add(event, content);
      calls.add(event, content);
      const stranger = otherRun(event, content, place.ids, isStarted);
      if (stranger !== undefined) missed(`${stranger}, so the stream does not answer the payload`);
      if (event === "run_started") {
        // A stream may continue with a second run, which has to end too.
        isStarted = true;
        isFinished = false;
        clearTimeout(linger);
      }
      if (TERMINAL.has(event)) isFinished = true;
      if (event === "run_error") {
        const code = (textMember(content, "code") ?? "no code").slice(0, 64);
        if (!isRefusalEvent(content)) {
          missed(`the run ended in RUN_ERROR (${code}), which does not say that it is a refusal`);
        } else if (isErrorAboutUsedIds(content) && !place.conflictCounts) {
          missed(`RUN_ERROR (${code}) ${USED_IDS}`);
        } else if (!context.refusalsCount) {
          missed(`RUN_ERROR (${code}), and the target accepted no other request`);
        } else if (place.trigger !== "run_error") refusedEarly(`RUN_ERROR (${code})`);
      }
      if (isFinished) {
        clearTimeout(linger);
        linger = setTimeout(() => stream.stop(), LINGER[context.channel.kind]);
      }
      listener.received(event, content);
    },
    refused(status, body) {
      if (isOver) return;
      const refusal = readRefusal(status, body);
      isRefused = true;
      if (!isDeliberate(refusal)) missed(`the target answered with status ${status}`);
      else if (isAboutUsedIds(refusal) && !place.conflictCounts) {
        missed(`the refusal (${refusal.code ?? `status ${status}`}) ${USED_IDS}`);
      } else if (!context.refusalsCount) {
        missed(`the target refused (status ${status}), and it accepted no other request`);
      } else refusedEarly(`the target refused (status ${status})`);
      record.onWire("http_response", { ...refusal });
      context.refused(refusal);
    },
    ended: end,
    answerCalls: (fill) => calls.answer(responses, fill),
  };
  return stream;
}

/**
 * Describes a start or end of a run that names another thread or run than the request. Three differences are allowed, because frameworks have
 * them: LangGraph ends a run under an id of its own; a proxied MCP run has its run id as its thread; a stream may continue with a second run
 * of the thread.
 */
function otherRun(
  event: string,
  content: JsonObject,
  { threadId, runId }: SentIds,
  isStarted: boolean,
): string | undefined {
  if (event !== "run_started" && event !== "run_finished") return undefined;
  const thread = textMember(content, "threadId");
  const isOther = thread !== undefined && threadId !== undefined && thread !== threadId;
  if (isOther && thread !== runId) {
    return `${event.toUpperCase()} is of thread ${thread.slice(0, 64)}, not of ${threadId.slice(0, 64)}`;
  }
  if (event !== "run_started" || isStarted) return undefined;
  const run = textMember(content, "runId");
  if (run === undefined || runId === undefined || run === runId) return undefined;
  return `RUN_STARTED is of run ${run.slice(0, 64)}, not of ${runId.slice(0, 64)}`;
}

/** The step of a document. */
export function placeOf(place: { readonly actor: string; readonly phase: string }): string {
  return `actor ${place.actor}, phase ${place.phase}`;
}

type ReadEvent =
  | { readonly event: string; readonly value: JsonObject }
  | { readonly event?: undefined; readonly code: string };

/** An event by the name that documents use, or why a frame is none. */
function readEvent(json: string): ReadEvent {
  try {
    const value = parseJson(json, { maxDepth: DEEPEST_EVENT });
    const type = textMember(value, "type");
    if (!isJsonObject(value) || type === undefined || type === "") return { code: "no event type" };
    return { event: type.toLowerCase(), value };
  } catch (error) {
    return { code: isCountersignError(error) ? error.code : "unknown" };
  }
}

/** The parts of a run that the trace records. */
function createRunRecord(
  { actor, phase }: { readonly actor: string; readonly phase: string },
  { recorder }: ActorContext,
) {
  const place = { actor, phase, direction: "response" } as const;
  return {
    /** Whether there was room for it. */
    event(event: string, content: JsonObject, raw: JsonValue, length: number): boolean {
      const draft = { ...place, event, content };
      return recorder.record(raw === content ? draft : { ...draft, raw }, length);
    },
    /** Something of the connection itself. */
    onWire(event: string, content: JsonObject): void {
      recorder.record({ ...place, protocol: WIRE, event, content }, lengthOf(content));
    },
  };
}
