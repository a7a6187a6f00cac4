import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import type { NormalizedPhase } from "../oatf/index.js";
import type { ActorContext } from "./actor-context.js";
import { attacksByForm, malformedPart, malformedPartOfBody, malformedPartOfEvent } from "./form.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";
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
import { followUpInput } from "./tool-calls.js";

/** The actions of a state that the AG-UI binding performs. */
const STATE_KEYS: ReadonlySet<string> = new Set(["run_agent_input", "tool_responses"]);

/** A run to start. */
type PreparedRun = {
  readonly input: JsonObject;
  /** The text that is sent in place of the input. */
  readonly body?: string;
  /** Some part of the input was left to `synthesize`, so that the input is not whole. */
  readonly isUnwritten?: boolean;
};

/** Speaks AG-UI as a client: sends runs, listens, answers tool calls. */
export const createAgUiClient: ModeFactory = (stage) => new AgUiClient(stage);

class AgUiClient implements Mode {
  runs = 0;
  readonly #stage: Stage;
  readonly #open = new Set<RunStream>();
  readonly #answeredPhases = new Set<NormalizedPhase | undefined>();
  #followUps = 0;
  #phaseOfFollowUps: NormalizedPhase | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get #context(): ActorContext {
    return this.#stage.context;
  }

  get #phase(): NormalizedPhase | undefined {
    return this.#stage.phase;
  }

  isBusy(): boolean {
    return this.#open.size > 0;
  }

  close(): void {
    for (const stream of this.#open) stream.stop();
    this.#context.channel.close();
  }

  ended(): void {
    const { name } = this.#stage.actor;
    for (const phase of this.#stage.enteredPhases) {
      const isAsked = this.#answeredPhases.has(phase);
      if (isAsked || ownMember(phase.state, "tool_responses") === undefined) continue;
      const message = `${placeOf({ actor: name, phase: phase.name })}: the agent asked for none of its tool_responses`;
      this.#context.note({ code: "CS-010", message });
    }
  }

  /** Sends what the state of a phase holds; what the binding has no way to perform is told. */
  enter(state: JsonObject): void {
    for (const key of Object.keys(state)) {
      if (STATE_KEYS.has(key)) continue;
      this.#stage.missed(
        "unsupported",
        `the AG-UI binding has no ${key.slice(0, 64)}, nothing sends it`,
      );
    }
    const responses = ownMember(state, "tool_responses");
    if (responses !== undefined && !(Array.isArray(responses) && responses.every(isJsonObject))) {
      this.#stage.missed(
        "error",
        "tool_responses is not a list of responses, so no tool call gets a result",
      );
    }
    const input = ownMember(state, "run_agent_input");
    if (!isJsonObject(input)) {
      const problem = input === undefined ? "has no run_agent_input" : "is no mapping";
      this.#stage.missed("error", `the state ${problem}, so nothing was sent`);
      return;
    }
    const written = ownMember(this.#phase, "x-countersign-body");
    const body = typeof written === "string" ? this.#stage.fill(written) : undefined;
    this.#startRun(this.#prepared(input, body));
  }

  /** An empty request attacks nothing, unless its headers or its ids do. */
  #requirePayload(input: JsonObject, body?: string): void {
    if (body === undefined ? hasContent(input) : hasContentInBody(body)) return;
    if (this.#context.idsAsWritten && namesThreadOrRun(input)) return;
    const headers = ownMember(this.#phase, "x-countersign-headers");
    if (isJsonObject(headers) && hasContent(Object.values(headers))) return;
    const sent = body === undefined ? "run_agent_input" : "x-countersign-body";
    this.#stage.missed("error", `${sent} holds only ids, roles and types, so it has no payload`);
  }

  get #attacksByForm(): boolean {
    return this.#context.formIsAttack || attacksByForm(this.#phase);
  }

  /** A target refuses or ignores what is not AG-UI, whatever it says: nothing of the payload was judged. */
  #requireForm(sent: string, problem: string | undefined): void {
    if (problem === undefined || this.#attacksByForm) return;
    this.#stage.missed(
      "error",
      `${sent} is not valid AG-UI, so its payload was not judged: ${problem}`,
    );
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
      this.#stage.missed(
        "unsupported",
        "synthesize is not performed, and nothing is written beside it",
      );
    } else this.#requirePayload(filled, body);
    return { input: filled, isUnwritten, ...(body === undefined ? {} : { body }) };
  }

  send(method: string, params: JsonValue): void {
    if (method === "run_agent_input") {
      this.#startRun(this.#prepared(isJsonObject(params) ? params : { value: params }));
    } else this.#sendEvent(method, this.#payload(params));
  }

  #sendEvent(method: string, params: JsonObject): void {
    const frame = { type: method.toUpperCase(), ...params };
    if (this.#context.channel.sendFrame(JSON.stringify(frame))) {
      this.#requireForm(`send ${method.slice(0, 64)}`, malformedPartOfEvent(frame));
      this.#record(method, frame);
    } else if (method === "tool_call_result" && isJsonObject(this.#stage.lastRequest)) {
      this.#record(method, params);
      const answer = { result: params, call: callNamedBy(params) };
      this.#startRun({ input: followUpInput(this.#inputOfPhase(), [answer]) });
    } else {
      const message = `send ${method} has no way over this transport`;
      this.#context.note({ code: "CS-005", message });
      this.#stage.missed("unsupported", message);
    }
  }

  #inputOfPhase(): JsonObject {
    const state = this.#stage.effectiveState()["run_agent_input"] ?? {};
    return withoutSynthesis(this.#payload(state)).input;
  }

  #startRun({ input, body: written, isUnwritten }: PreparedRun): void {
    this.runs += 1;
    const phase = this.#phase;
    const generated = (key: string): void =>
      this.#context.note({ code: "CS-002", message: `${key} generated` });
    const named = this.#withAddresses(withIds(input, generated));
    const body = this.#attacksByForm ? named : withMessageIds(named, generated);
    if (written !== undefined) {
      this.#requireForm("x-countersign-body", malformedPartOfBody(written));
    } else if (isUnwritten !== true) {
      this.#requireForm("run_agent_input", malformedPart(body));
    }
    const { headers, problems } =
      phase === undefined
        ? { headers: {}, problems: [] }
        : requestExtrasOf(phase, (value) => this.#stage.fill(value));
    for (const problem of problems) this.#stage.missed("error", problem);
    const thread = textMember(body, "threadId") ?? "";
    // Only this execution can have used a thread with a fresh id.
    const conflictCounts =
      attacksByConflict(phase) && !this.#context.idsAsWritten && this.#context.threads.has(thread);
    this.#context.threads.add(thread);
    const stream = createRunStream(
      {
        actor: this.#stage.actor.name,
        phase: phase?.name ?? "",
        input: body,
        ids: sentIds(body, written),
        conflictCounts,
        hasLater: this.#hasLaterPayload(phase),
        trigger: phase?.trigger?.event,
      },
      this.#context,
      {
        received: (event, content) =>
          this.#stage.guard(() => {
            this.#stage.observe("response", content);
            this.#stage.offer(event, content);
          }),
        ended: (ended) => {
          this.#open.delete(ended);
          this.#stage.guard(() => this.#answerCalls(ended));
        },
      },
      this.#stage.effectiveState()["tool_responses"],
    );
    this.#open.add(stream);
    const request = requestOf(body, written, headers);
    this.#record("run_agent_input", body, written);
    stream.listen(this.#context.channel.start(request, stream));
  }

  #hasLaterPayload(phase: NormalizedPhase | undefined): boolean {
    const { phases } = this.#stage.actor;
    const later = phase === undefined ? [] : phases.slice(phases.indexOf(phase) + 1);
    return later.some(
      ({ state, on_enter: actions = [] }) =>
        state !== undefined || actions.some(({ send }) => send !== undefined),
    );
  }

  /** Tells the agent where the servers of this execution are, where the caller wants it told in every run. */
  #withAddresses(input: JsonObject): JsonObject {
    const { addressesIn: key, addresses } = this.#context;
    const props = ownMember(input, "forwardedProps") ?? {};
    if (key === undefined || !isJsonObject(props)) return input;
    return { ...input, forwardedProps: { ...props, [key]: { ...addresses } } };
  }

  #answerCalls(stream: RunStream): void {
    if (this.#stage.isDone) return;
    const { answers, unanswered, unwritten } = stream.answerCalls((content) =>
      this.#stage.fill(content),
    );
    for (const name of unwritten) {
      const message = `the tool response for ${name.slice(0, 64)} has no written content`;
      this.#context.note({ code: "W-006", message });
      this.#stage.missed("unsupported", message);
    }
    const offered = new Set(
      listMember(stream.input, "tools").map((tool) => textMember(tool, "name")),
    );
    for (const name of unanswered) {
      const message = `tool call ${name.slice(0, 64)} left unanswered`;
      this.#context.note({ code: "CS-007", message });
      // The agent waits for the result of a tool that the client offers.
      if (offered.has(name))
        this.#stage.missed("error", `${message}: no entry of tool_responses fits`);
    }
    if (answers.length === 0) return;
    if (this.#phaseOfFollowUps !== this.#phase) this.#followUps = 0;
    this.#phaseOfFollowUps = this.#phase;
    this.#followUps += 1;
    if (this.#followUps > this.#context.limits.maxFollowUps) {
      const message = "too many tool calls in one phase, the last ones were not answered";
      this.#context.note({ code: "CS-007", message });
      this.#stage.missed("error", message);
      return;
    }
    this.#answeredPhases.add(this.#phase);
    for (const { result } of answers) this.#record("tool_call_result", result);
    this.#startRun({ input: followUpInput(stream.input, answers) });
  }

  #record(event: string, content: JsonObject, raw?: string): void {
    this.#stage.record("request", event, content, raw);
    this.#stage.observe("request", content);
    this.#stage.offer(event, content);
  }

  #payload(value: JsonValue): JsonObject {
    const filled = this.#stage.fill(value);
    return isJsonObject(filled) ? filled : { value: filled };
  }
}
