import { randomUUID } from "node:crypto";
import { isCountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { CountersignError, JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/access.js";
import {
  computeEffectiveState,
  createTriggerState,
  evaluateExtractor,
  evaluateTrigger,
  interpolateTemplate,
  interpolateValue,
  parseDuration,
} from "../oatf/index.js";
import type { Action, Direction, NormalizedActor, TriggerState } from "../oatf/index.js";
import type { Channel, Refusal } from "./channel.js";
import type { RunnerLimits } from "./options.js";
import { connectionError } from "./stopwatch.js";
import { createRunStream } from "./run-stream.js";
import type { RunStream } from "./run-stream.js";
import { followUpInput } from "./tool-calls.js";
import type { ToolAnswer } from "./tool-calls.js";
import { lengthOf } from "./trace-recorder.js";
import type { TraceRecorder } from "./trace-recorder.js";
import type { ActorVariables } from "./variables.js";

/** Something the reader of a report should know. */
export type RunnerNote = { readonly code: string; readonly message: string };

/** What became of an actor. */
export type ActorReport = {
  readonly name: string;
  readonly mode: string;
  /** `stalled`: its phase waits for an event that cannot come any more. */
  readonly status: "completed" | "stalled" | "failed" | "skipped";
  readonly phases: { readonly entered: number; readonly total: number };
  readonly runs: number;
};

/** What an actor works with. */
export type ActorSurroundings = {
  readonly recorder: TraceRecorder;
  readonly variables: ActorVariables;
  readonly channel: Channel;
  readonly limits: RunnerLimits;
  readonly strict: boolean;
  note(note: RunnerNote): void;
  failed(error: CountersignError): void;
  refused(refusal: Refusal): void;
};

/** A running actor. */
export type RunningActor = {
  readonly done: Promise<ActorReport>;
  /** Gives up what is open; the report says `failed` when the actor was not through. */
  stop(): void;
};

/** Performs the phases of an actor: sends, listens, answers tool calls, advances by triggers. */
export function startActor(actor: NormalizedActor, around: ActorSurroundings): RunningActor {
  const { phases } = actor;
  const open = new Set<RunStream>();
  let index = 0;
  let entered = 0;
  let runs = 0;
  let followUps = 0;
  let enteredAt = 0;
  let triggerState: TriggerState = createTriggerState();
  let advances = false;
  let timer: NodeJS.Timeout | undefined;
  let lastRequest: JsonValue | undefined;
  let lastResponse: JsonValue | undefined;
  let finish: (report: ActorReport) => void = () => {};
  let isDone = false;
  const done = new Promise<ActorReport>((resolve) => {
    finish = resolve;
  });

  const end = (status: ActorReport["status"]): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    const { name, mode } = actor;
    finish({ name, mode, status, phases: { entered, total: phases.length }, runs });
  };
  const interpolate = (value: JsonValue): JsonValue => {
    const { value: filled, warnings } = interpolateValue(value, templateContext());
    for (const { code, message } of warnings) around.note({ code, message });
    return filled;
  };
  const templateContext = () => ({
    extractors: around.variables.values,
    ...(lastRequest === undefined ? {} : { request: lastRequest }),
    ...(lastResponse === undefined ? {} : { response: lastResponse }),
  });
  /** After a message is recorded: extractors first, then the trigger of the phase. */
  const observe = (direction: Direction, event: string, content: JsonValue): void => {
    if (direction === "request") lastRequest = content;
    else lastResponse = content;
    const phase = phases[index];
    for (const extractor of phase?.extractors ?? []) {
      const found = evaluateExtractor(extractor, content, direction, {
        onError: ({ kind, message }) => around.note({ code: kind, message }),
      });
      if (found !== undefined) around.variables.set(extractor.name, found);
    }
    if (advances || phase?.trigger === undefined) return;
    const elapsed = (performance.now() - enteredAt) / 1000;
    const answer = evaluateTrigger(phase.trigger, { event, content }, elapsed, triggerState);
    triggerState = answer.state;
    advances = answer.advanced;
  };
  const record = (event: string, content: JsonObject, raw?: string): void => {
    const phase = phases[index]?.name ?? "";
    const draft = { actor: actor.name, phase, direction: "request" as const, event, content };
    around.recorder.record(raw === undefined ? draft : { ...draft, raw }, lengthOf(content));
    observe("request", event, content);
  };
  const startRun = (input: JsonObject): void => {
    runs += 1;
    const phase = phases[index];
    const body = withIds(input, around);
    const written = ownMember(phase, "x-countersign-body");
    const raw =
      typeof written === "string"
        ? interpolateTemplate(written, templateContext()).text
        : undefined;
    const stream = createRunStream(
      { actor: actor.name, phase: phase?.name ?? "", input: body },
      around,
      {
        received: (event, content) => guard(() => observe("response", event, content)),
        ended: (ended) => {
          open.delete(ended);
          guard(() => answerCalls(ended));
        },
      },
      computeEffectiveState(phases, index)?.["tool_responses"],
    );
    open.add(stream);
    const request = {
      body: raw ?? JSON.stringify(body),
      threadId: textMember(body, "threadId") ?? "",
      runId: textMember(body, "runId") ?? "",
      headers: headersOf(ownMember(phase, "x-countersign-headers")),
    };
    record("run_agent_input", body, raw);
    stream.listen(around.channel.start(request, stream));
  };
  const answerCalls = (stream: RunStream): void => {
    if (isDone) return;
    const { answers, unanswered } = stream.answerCalls((content) => interpolate(content));
    for (const name of unanswered) {
      around.note({ code: "CS-007", message: `tool call ${name.slice(0, 64)} left unanswered` });
    }
    if (answers.length === 0) return;
    followUps += 1;
    if (followUps > around.limits.maxFollowUps) {
      around.note({ code: "CS-007", message: "too many tool calls in one phase" });
      return;
    }
    sendAnswers(stream.input, answers);
  };
  const sendAnswers = (input: JsonObject, answers: readonly ToolAnswer[]): void => {
    for (const { result } of answers) record("tool_call_result", result);
    startRun(followUpInput(input, answers));
  };
  const act = (action: Action): void => {
    const { send, log } = action;
    if (log !== undefined) {
      const { text } = interpolateTemplate(log.message, templateContext());
      around.note({ code: `log:${log.level ?? "info"}`, message: text.slice(0, 1000) });
    } else if (send !== undefined) {
      const filled = interpolate(send.params ?? {});
      const params = isJsonObject(filled) ? filled : { value: filled };
      if (send.method === "run_agent_input") startRun(params);
      else sendEvent(send.method, params);
    } else around.note({ code: "CS-005", message: "an action of another binding was skipped" });
  };
  const sendEvent = (method: string, params: JsonObject): void => {
    const frame = { type: method.toUpperCase(), ...params };
    if (around.channel.sendFrame(JSON.stringify(frame))) record(method, frame);
    else if (method === "tool_call_result" && isJsonObject(lastRequest)) {
      record(method, params);
      startRun(followUpInput(lastInput(), [{ result: params, call: callNamedBy(params) }]));
    } else
      around.note({ code: "CS-005", message: `send ${method} has no way over this transport` });
  };
  const lastInput = (): JsonObject => {
    const state = computeEffectiveState(phases, index)?.["run_agent_input"] ?? {};
    const filled = interpolate(state);
    return isJsonObject(filled) ? filled : {};
  };
  const enter = (): void => {
    const phase = phases[index];
    if (phase === undefined) return;
    entered += 1;
    followUps = 0;
    triggerState = createTriggerState();
    enteredAt = performance.now();
    clearTimeout(timer);
    if (phase.trigger?.after !== undefined) {
      const milliseconds = Math.min(parseDuration(phase.trigger.after) * 1000, 2 ** 31 - 1);
      const advance = (): void => {
        advances = true;
      };
      timer = setTimeout(() => guard(advance), milliseconds);
    }
    for (const action of phase.on_enter ?? []) act(action);
    if (phase.state === undefined) return;
    const input = interpolate(phase.state["run_agent_input"] ?? {});
    startRun(isJsonObject(input) ? input : { value: input });
  };
  /** Does one thing and then what follows from it; nothing a document or a target does may throw further. */
  const guard = (work: () => void): void => {
    try {
      work();
      while (!isDone && advances && index < phases.length - 1) {
        advances = false;
        index += 1;
        enter();
      }
    } catch (error) {
      fail(error);
    }
    if (isDone || open.size > 0) return;
    const trigger = index < phases.length - 1 ? phases[index]?.trigger : undefined;
    if (trigger === undefined) end("completed");
    else if (trigger.after === undefined) end("stalled");
  };
  const fail = (error: unknown): void => {
    around.failed(isCountersignError(error) ? error : connectionError(error));
    end("failed");
    for (const stream of open) stream.stop();
  };
  queueMicrotask(() => guard(enter));
  return {
    done,
    stop() {
      end("failed");
      for (const stream of open) stream.stop();
      around.channel.close();
    },
  };
}

/** The binding wants ids; a document that leaves them out gets fresh ones at the moment of sending. */
function withIds(input: JsonObject, around: Pick<ActorSurroundings, "note">): JsonObject {
  const filled: JsonObject = { ...input };
  for (const key of ["threadId", "runId"]) {
    if (Object.hasOwn(filled, key)) continue;
    filled[key] = randomUUID();
    around.note({ code: "CS-002", message: `${key} generated` });
  }
  return filled;
}

function headersOf(value: JsonValue | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isJsonObject(value)) return headers;
  for (const [name, text] of Object.entries(value)) {
    // Anything else would make Node throw, and a document must not stop the batch.
    if (typeof text === "string" && /^[\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(text)) {
      headers[name.toLowerCase()] = text;
    }
  }
  return headers;
}

function callNamedBy(result: JsonObject): JsonObject {
  const id = textMember(result, "toolCallId") ?? randomUUID();
  return { id, type: "function", function: { name: "unknown", arguments: "{}" } };
}
