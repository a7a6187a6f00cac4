import { isCountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import {
  computeEffectiveState,
  evaluateExtractor,
  interpolateTemplate,
  interpolateValue,
} from "../oatf/index.js";
import { listMember, textMember } from "../oatf/json/values.js";
import type { Action, Direction, NormalizedActor, NormalizedPhase } from "../oatf/index.js";
import type { ActorContext } from "./actor-context.js";
import { attacksByForm, malformedPart, malformedPartOfBody, malformedPartOfEvent } from "./form.js";
import type { Gap } from "./gap.js";
import { PhaseTriggers } from "./phase-triggers.js";
import {
  attacksByConflict,
  callNamedBy,
  hasContent,
  hasContentInBody,
  namesThreadOrRun,
  requestExtrasOf,
  requestOf,
  sentIds,
  withIds,
  withMessageIds,
  withoutSynthesis,
} from "./request.js";
import { createRunStream, placeOf } from "./run-stream.js";
import type { RunStream } from "./run-stream.js";
import { connectionError } from "./stopwatch.js";
import { followUpInput } from "./tool-calls.js";
import { lengthOf } from "./trace-recorder.js";

/** The actions of a state that the AG-UI binding performs. */
const STATE_KEYS: ReadonlySet<string> = new Set(["run_agent_input", "tool_responses"]);

/** The outcome of an actor. */
export type ActorReport = {
  readonly name: string;
  readonly mode: string;
  /** `stalled`: its phase waits for an event that cannot come any more. */
  readonly status: "completed" | "stalled" | "failed" | "skipped";
  readonly phases: { readonly entered: number; readonly total: number };
  readonly runs: number;
};

/** A running actor. */
export type RunningActor = {
  readonly done: Promise<ActorReport>;
  /** Gives up what is open; the report says `failed` when the actor was not through. */
  stop(): void;
};

/** A run to start. */
type PreparedRun = {
  readonly input: JsonObject;
  /** The text that is sent in place of the input. */
  readonly body?: string;
  /** Some part of the input was left to `synthesize`, so that the input is not whole. */
  readonly isUnwritten?: boolean;
};

/** Performs the phases of an actor: sends, listens, answers tool calls, advances by triggers. */
export function startActor(actor: NormalizedActor, context: ActorContext): RunningActor {
  const execution = new ActorExecution(actor, context);
  queueMicrotask(() => execution.begin());
  return execution;
}

class ActorExecution implements RunningActor {
  readonly done: Promise<ActorReport>;
  readonly #actor: NormalizedActor;
  readonly #context: ActorContext;
  readonly #triggers = new PhaseTriggers();
  readonly #open = new Set<RunStream>();
  #finish: (report: ActorReport) => void = () => {};
  #isDone = false;
  #index = 0;
  #entered = 0;
  #runs = 0;
  #followUps = 0;
  readonly #answeredPhases = new Set<NormalizedPhase | undefined>();
  #lastRequest: JsonValue | undefined;
  #lastResponse: JsonValue | undefined;

  constructor(actor: NormalizedActor, context: ActorContext) {
    this.#actor = actor;
    this.#context = context;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  begin(): void {
    this.#guard(() => this.#enter());
  }

  stop(): void {
    if (!this.#isDone) this.#missed("error", "was stopped before it was through");
    this.#end("failed");
    for (const stream of this.#open) stream.stop();
    this.#context.channel.close();
  }

  get #phase(): NormalizedPhase | undefined {
    return this.#actor.phases[this.#index];
  }

  get #isLastPhase(): boolean {
    return this.#index >= this.#actor.phases.length - 1;
  }

  /** Does one thing and then what follows from it; nothing a document or a target does may throw further. */
  #guard(work: () => void): void {
    try {
      work();
      while (!this.#isDone && this.#triggers.isOver && !this.#isLastPhase) {
        this.#index += 1;
        this.#enter();
      }
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isDone || this.#open.size > 0) return;
    const trigger = this.#isLastPhase ? undefined : this.#phase?.trigger;
    if (trigger === undefined) this.#end("completed");
    else if (trigger.after === undefined) {
      const { phases } = this.#actor;
      const left = phases.slice(this.#index + 1).map(({ name }) => name);
      this.#missed(
        "cut_short",
        `phase ${this.#index + 1} of ${phases.length} waits for ${trigger.event ?? "an event"}, which never came, so ${left.join(", ")} did not happen`,
      );
      this.#end("stalled");
    }
  }

  #missed(kind: Gap["kind"], message: string): void {
    this.#context.missed({ kind, message: `${this.#place}: ${message}` });
  }

  get #place(): string {
    return placeOf({ actor: this.#actor.name, phase: this.#phase?.name ?? "" });
  }

  #fail(error: unknown): void {
    this.#context.failed(isCountersignError(error) ? error : connectionError(error), this.#place);
    this.#end("failed");
    for (const stream of this.#open) stream.stop();
  }

  #end(status: ActorReport["status"]): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#triggers.stop();
    const { name, mode, phases } = this.#actor;
    for (const phase of phases.slice(0, this.#entered)) {
      const isAsked = this.#answeredPhases.has(phase);
      if (isAsked || ownMember(phase.state, "tool_responses") === undefined) continue;
      const message = `${placeOf({ actor: name, phase: phase.name })}: the agent asked for none of its tool_responses`;
      this.#context.note({ code: "CS-010", message });
    }
    const counts = { entered: this.#entered, total: phases.length };
    this.#finish({ name, mode, status, phases: counts, runs: this.#runs });
  }

  #enter(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    this.#entered += 1;
    this.#followUps = 0;
    this.#triggers.enter(phase.trigger, () => this.#guard(() => {}));
    for (const action of phase.on_enter ?? []) this.#act(action);
    if (phase.state !== undefined) this.#send(phase, phase.state);
  }

  /** Sends what the state of a phase holds; what the binding has no way to perform is told. */
  #send(phase: NormalizedPhase, state: JsonObject): void {
    for (const key of Object.keys(state)) {
      if (STATE_KEYS.has(key)) continue;
      this.#missed("unsupported", `the AG-UI binding has no ${key.slice(0, 64)}, nothing sends it`);
    }
    const responses = ownMember(state, "tool_responses");
    if (responses !== undefined && !(Array.isArray(responses) && responses.every(isJsonObject))) {
      this.#missed(
        "error",
        "tool_responses is not a list of responses, so no tool call gets a result",
      );
    }
    const input = ownMember(state, "run_agent_input");
    if (!isJsonObject(input)) {
      const problem = input === undefined ? "has no run_agent_input" : "is no mapping";
      this.#missed("error", `the state ${problem}, so nothing was sent`);
      return;
    }
    const written = ownMember(phase, "x-countersign-body");
    const body = typeof written === "string" ? this.#fill(written) : undefined;
    this.#startRun(this.#prepared(input, body));
  }

  /** An empty request attacks nothing, unless its headers or its ids do. */
  #requirePayload(input: JsonObject, body?: string): void {
    if (body === undefined ? hasContent(input) : hasContentInBody(body)) return;
    if (this.#context.idsAsWritten && namesThreadOrRun(input)) return;
    const headers = ownMember(this.#phase, "x-countersign-headers");
    if (isJsonObject(headers) && hasContent(Object.values(headers))) return;
    const sent = body === undefined ? "run_agent_input" : "x-countersign-body";
    this.#missed("error", `${sent} holds only ids, roles and types, so it has no payload`);
  }

  get #attacksByForm(): boolean {
    return this.#context.formIsAttack || attacksByForm(this.#phase);
  }

  /** A target refuses or ignores what is not AG-UI, whatever it says: nothing of the payload was judged. */
  #requireForm(sent: string, problem: string | undefined): void {
    if (problem === undefined || this.#attacksByForm) return;
    this.#missed("error", `${sent} is not valid AG-UI, so its payload was not judged: ${problem}`);
  }

  /** The input to send: filled, and without `synthesize`, which is reserved. Told is what it lacks. */
  #prepared(written: JsonObject, body?: string): PreparedRun {
    const { input, isFound, isUnwritten } = withoutSynthesis(written);
    const filled = this.#payload(input);
    if (isFound) {
      const message = "synthesize is reserved and has no effect; what is written out is sent";
      this.#context.note({ code: "W-006", message });
    }
    if (isUnwritten) {
      this.#missed("unsupported", "synthesize is not performed, and nothing is written beside it");
    } else this.#requirePayload(filled, body);
    return { input: filled, isUnwritten, ...(body === undefined ? {} : { body }) };
  }

  #act({ send, log }: Action): void {
    if (log !== undefined) {
      const { text } = interpolateTemplate(log.message, this.#templateContext());
      const code = `log:${log.level ?? "info"}`;
      this.#context.note({ code, message: text.slice(0, 1000) });
    } else if (send !== undefined) {
      const { params = {} } = send;
      if (send.method === "run_agent_input") {
        this.#startRun(this.#prepared(isJsonObject(params) ? params : { value: params }));
      } else this.#sendEvent(send.method, this.#payload(params));
    } else {
      const message = "an action of another binding was skipped";
      this.#context.note({ code: "CS-005", message });
      this.#missed("unsupported", message);
    }
  }

  #sendEvent(method: string, params: JsonObject): void {
    const frame = { type: method.toUpperCase(), ...params };
    if (this.#context.channel.sendFrame(JSON.stringify(frame))) {
      this.#requireForm(`send ${method.slice(0, 64)}`, malformedPartOfEvent(frame));
      this.#record(method, frame);
    } else if (method === "tool_call_result" && isJsonObject(this.#lastRequest)) {
      this.#record(method, params);
      const answer = { result: params, call: callNamedBy(params) };
      this.#startRun({ input: followUpInput(this.#inputOfPhase(), [answer]) });
    } else {
      const message = `send ${method} has no way over this transport`;
      this.#context.note({ code: "CS-005", message });
      this.#missed("unsupported", message);
    }
  }

  #inputOfPhase(): JsonObject {
    const state = computeEffectiveState(this.#actor.phases, this.#index)?.["run_agent_input"] ?? {};
    return withoutSynthesis(this.#payload(state)).input;
  }

  #startRun({ input, body: written, isUnwritten }: PreparedRun): void {
    this.#runs += 1;
    const phase = this.#phase;
    const generated = (key: string): void =>
      this.#context.note({ code: "CS-002", message: `${key} generated` });
    const named = withIds(input, generated);
    const body = this.#attacksByForm ? named : withMessageIds(named, generated);
    if (written !== undefined) {
      this.#requireForm("x-countersign-body", malformedPartOfBody(written));
    } else if (isUnwritten !== true) {
      this.#requireForm("run_agent_input", malformedPart(body));
    }
    const { headers, problems } =
      phase === undefined
        ? { headers: {}, problems: [] }
        : requestExtrasOf(phase, (value) => this.#fill(value));
    for (const problem of problems) this.#missed("error", problem);
    const thread = textMember(body, "threadId") ?? "";
    // Only this execution can have used a thread with a fresh id.
    const conflictCounts =
      attacksByConflict(phase) && !this.#context.idsAsWritten && this.#context.threads.has(thread);
    this.#context.threads.add(thread);
    const stream = createRunStream(
      {
        actor: this.#actor.name,
        phase: phase?.name ?? "",
        input: body,
        ids: sentIds(body, written),
        conflictCounts,
      },
      this.#context,
      {
        received: (event, content) => this.#guard(() => this.#observe("response", event, content)),
        ended: (ended) => {
          this.#open.delete(ended);
          this.#guard(() => this.#answerCalls(ended));
        },
      },
      computeEffectiveState(this.#actor.phases, this.#index)?.["tool_responses"],
    );
    this.#open.add(stream);
    const request = requestOf(body, written, headers);
    this.#record("run_agent_input", body, written);
    stream.listen(this.#context.channel.start(request, stream));
  }

  #answerCalls(stream: RunStream): void {
    if (this.#isDone) return;
    const { answers, unanswered, unwritten } = stream.answerCalls((content) => this.#fill(content));
    for (const name of unwritten) {
      const message = `the tool response for ${name.slice(0, 64)} has no written content`;
      this.#context.note({ code: "W-006", message });
      this.#missed("unsupported", message);
    }
    const offered = new Set(
      listMember(stream.input, "tools").map((tool) => textMember(tool, "name")),
    );
    for (const name of unanswered) {
      const message = `tool call ${name.slice(0, 64)} left unanswered`;
      this.#context.note({ code: "CS-007", message });
      // The agent waits for the result of a tool that the client offers.
      if (offered.has(name)) this.#missed("error", `${message}: no entry of tool_responses fits`);
    }
    if (answers.length === 0) return;
    this.#followUps += 1;
    if (this.#followUps > this.#context.limits.maxFollowUps) {
      const message = "too many tool calls in one phase, the last ones were not answered";
      this.#context.note({ code: "CS-007", message });
      this.#missed("error", message);
      return;
    }
    this.#answeredPhases.add(this.#phase);
    for (const { result } of answers) this.#record("tool_call_result", result);
    this.#startRun({ input: followUpInput(stream.input, answers) });
  }

  #record(event: string, content: JsonObject, raw?: string): void {
    const phase = this.#phase?.name ?? "";
    const draft = { actor: this.#actor.name, phase, direction: "request" as const, event, content };
    const { recorder } = this.#context;
    recorder.record(raw === undefined ? draft : { ...draft, raw }, lengthOf(content));
    this.#observe("request", event, content);
  }

  /** After a message is recorded: extractors first, then the trigger of the phase. */
  #observe(direction: Direction, event: string, content: JsonValue): void {
    if (direction === "request") this.#lastRequest = content;
    else this.#lastResponse = content;
    for (const extractor of this.#phase?.extractors ?? []) {
      const found = evaluateExtractor(extractor, content, direction, {
        onError: ({ kind, message }) => this.#context.note({ code: kind, message }),
      });
      if (found !== undefined) this.#context.variables.set(extractor.name, found);
    }
    this.#triggers.observe(event, content);
  }

  #payload(value: JsonValue): JsonObject {
    const filled = this.#fill(value);
    return isJsonObject(filled) ? filled : { value: filled };
  }

  /** Fills the templates of something that is sent; one without a value leaves a hole in the attack. */
  #fill<Value extends JsonValue>(value: Value): Value {
    const { value: filled, warnings } = interpolateValue(value, this.#templateContext(), {
      names: true,
      emptyIsMissing: true,
    });
    for (const { code, message } of warnings) {
      this.#context.note({ code, message });
      this.#missed("cut_short", `sent with a hole: ${message}`);
    }
    return filled as Value;
  }

  #templateContext() {
    return {
      extractors: this.#context.variables.values,
      ...(this.#lastRequest === undefined ? {} : { request: this.#lastRequest }),
      ...(this.#lastResponse === undefined ? {} : { response: this.#lastResponse }),
    };
  }
}
