import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import {
  computeEffectiveState,
  evaluateExtractor,
  extractProtocol,
  interpolateTemplate,
  interpolateValue,
} from "../oatf/index.js";
import type { Action, Direction, NormalizedActor, NormalizedPhase } from "../oatf/index.js";
import type { ActorContext } from "./actor-context.js";
import type { Gap } from "./gap.js";
import { AG_UI, ownDirection } from "./mode.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";
import { PhaseTriggers } from "./phase-triggers.js";
import { withoutPrompts } from "./request.js";
import { placeOf } from "./run-stream.js";
import { connectionError } from "./stopwatch.js";
import { lengthOf } from "./trace-recorder.js";

/** The outcome of an actor. */
export type ActorReport = {
  readonly name: string;
  readonly mode: string;
  /** `stalled`: its phase waits for an event that cannot come any more. */
  readonly status: "completed" | "stalled" | "failed" | "skipped";
  readonly phases: { readonly entered: number; readonly total: number };
  readonly runs: number;
};

/** An actor of a document. */
export type RunningActor = {
  readonly done: Promise<ActorReport>;
  /** Starts to listen, for a server. An actor that cannot listen has failed. */
  listen(): Promise<void>;
  /** Enters the first phase. */
  begin(): void;
  /** No further event comes: ends a server. */
  finish(): void;
  /** Gives up what is open; the report says `failed` when the actor was not through. */
  stop(): void;
};

/** Creates the engine that performs the phases of an actor: enters them, and advances by triggers. */
export function createActor(
  actor: NormalizedActor,
  context: ActorContext,
  createMode: ModeFactory,
): RunningActor {
  return new PhaseEngine(actor, context, createMode);
}

class PhaseEngine implements RunningActor, Stage {
  readonly done: Promise<ActorReport>;
  readonly actor: NormalizedActor;
  readonly context: ActorContext;
  readonly #mode: Mode;
  readonly #protocol: string;
  readonly #triggers = new PhaseTriggers();
  #finish: (report: ActorReport) => void = () => {};
  #isDone = false;
  #isFinishing = false;
  #index = 0;
  #entered = 0;
  #lastRequest: JsonValue | undefined;
  #lastResponse: JsonValue | undefined;

  constructor(actor: NormalizedActor, context: ActorContext, createMode: ModeFactory) {
    this.actor = actor;
    this.context = context;
    this.#protocol = extractProtocol(actor.mode) ?? actor.mode;
    this.#mode = createMode(this);
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async listen(): Promise<void> {
    try {
      await this.#mode.listen?.();
    } catch (error) {
      this.fail(error);
    }
  }

  begin(): void {
    if (!this.#isDone) this.guard(() => this.#enter());
  }

  finish(): void {
    this.#isFinishing = true;
    this.guard(() => {});
  }

  stop(): void {
    if (!this.#isDone) this.missed("error", "was stopped before it was through");
    this.#end("failed");
    this.#mode.close();
  }

  get phase(): NormalizedPhase | undefined {
    return this.actor.phases[this.#index];
  }

  get enteredPhases(): readonly NormalizedPhase[] {
    return this.actor.phases.slice(0, this.#entered);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get lastRequest(): JsonValue | undefined {
    return this.#lastRequest;
  }

  get #isLastPhase(): boolean {
    return this.#index >= this.actor.phases.length - 1;
  }

  effectiveState(): JsonObject {
    return computeEffectiveState(this.actor.phases, this.#index) ?? {};
  }

  guard(work: () => void): void {
    try {
      work();
      while (!this.#isDone && this.#triggers.isOver && !this.#isLastPhase) {
        this.#index += 1;
        this.#enter();
      }
    } catch (error) {
      this.fail(error);
    }
    if (this.#isDone || (this.#mode.isBusy() && !this.#isFinishing)) return;
    const trigger = this.#isLastPhase ? undefined : this.phase?.trigger;
    if (trigger === undefined) this.#end("completed");
    else if (trigger.after === undefined || this.#isFinishing) {
      const { phases } = this.actor;
      const left = phases.slice(this.#index + 1).map(({ name }) => name);
      this.missed(
        "cut_short",
        `phase ${this.#index + 1} of ${phases.length} waits for ${trigger.event ?? `${trigger.after ?? ""} to pass`}, which never came, so ${left.join(", ")} did not happen`,
      );
      this.#end("stalled");
    }
  }

  missed(kind: Gap["kind"], message: string): void {
    this.context.missed({ kind, message: `${this.#place}: ${message}` });
  }

  get #place(): string {
    return placeOf({ actor: this.actor.name, phase: this.phase?.name ?? "" });
  }

  fail(error: unknown): void {
    this.context.failed(isCountersignError(error) ? error : connectionError(error), this.#place);
    this.#end("failed");
    this.#mode.close();
  }

  #end(status: ActorReport["status"]): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#triggers.stop();
    this.#mode.ended();
    const { name, mode, phases } = this.actor;
    const counts = { entered: this.#entered, total: phases.length };
    this.#finish({ name, mode, status, phases: counts, runs: this.#mode.runs });
  }

  #enter(): void {
    const { phase } = this;
    if (phase === undefined) return;
    this.#entered += 1;
    this.#triggers.enter(phase.trigger, () => this.guard(() => {}));
    for (const action of phase.on_enter ?? []) this.#act(action);
    if (phase.state !== undefined) this.#mode.enter(phase.state);
  }

  #act({ send, log, ...others }: Action): void {
    if (log !== undefined) {
      const { text } = interpolateTemplate(log.message, this.#templateContext());
      const code = `log:${log.level ?? "info"}`;
      this.context.note({ code, message: text.slice(0, 1000) });
    } else if (send !== undefined) {
      this.#mode.send(send.method, send.params ?? {});
    } else {
      const [name = "", value = null] =
        Object.entries(others).find(([key]) => !key.startsWith("x-")) ?? [];
      if (this.#mode.act?.(name, value) === true) return;
      const message = `the runner does not perform the action ${name.slice(0, 64)} for ${this.actor.mode}`;
      this.context.note({ code: "CS-005", message });
      this.missed("unsupported", message);
    }
  }

  record(direction: Direction, event: string, content: JsonValue, raw?: JsonValue): boolean {
    const place = { actor: this.actor.name, phase: this.phase?.name ?? "" };
    const isOwn = direction === ownDirection(this.actor.mode);
    const own = isOwn && this.#protocol !== AG_UI ? { isOwn } : {};
    const draft = { ...place, protocol: this.#protocol, direction, event, content, ...own };
    return this.context.recorder.record(
      raw === undefined ? draft : { ...draft, raw },
      lengthOf(content),
    );
  }

  observe(direction: Direction, content: JsonValue): void {
    if (direction === "request") this.#lastRequest = content;
    else this.#lastResponse = content;
    for (const extractor of this.phase?.extractors ?? []) {
      const found = evaluateExtractor(extractor, content, direction, {
        onError: ({ kind, message }) => this.context.note({ code: kind, message }),
      });
      if (found !== undefined) this.context.variables.set(extractor.name, found);
    }
  }

  offer(event: string, content: JsonValue): void {
    this.#triggers.observe(event, content);
  }

  fill<Value extends JsonValue>(value: Value): Value {
    const { value: written, isFound, isUnwritten } = withoutPrompts(value);
    if (isFound) {
      const message = "synthesize is reserved and has no effect; what is written out is sent";
      this.context.note({ code: "W-006", message });
    }
    if (isUnwritten) {
      this.missed("unsupported", "synthesize is not performed, and nothing is written beside it");
    }
    const { value: filled, warnings } = interpolateValue(written, this.#templateContext(), {
      names: true,
      emptyIsMissing: true,
    });
    for (const { code, message } of warnings) {
      this.context.note({ code, message });
      this.missed("cut_short", `sent with a hole: ${message}`);
    }
    return filled as Value;
  }

  #templateContext() {
    return {
      extractors: this.context.variables.values,
      ...(this.#lastRequest === undefined ? {} : { request: this.#lastRequest }),
      ...(this.#lastResponse === undefined ? {} : { response: this.#lastResponse }),
    };
  }
}
