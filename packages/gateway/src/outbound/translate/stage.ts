import { carryEnvelope, createRepairer, createUpgrader } from "@countersign/wire/dialects";
import type { EnvelopeClaim, Repairer, RepairResult, Upgrader } from "@countersign/wire/dialects";
import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createEventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step, StreamEnd } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { claimId, createEventIds } from "./claimed-ids.js";
import "../../base/errors.js";

/** Translates every dialect to AG-UI 1.0, and refuses events without a defined translation. */
export const translate: Stage = {
  name: "translate",
  open: (run, next) => new Translator(run, next),
};

class Translator extends PassingStep {
  readonly #run: Run;
  readonly #upgrader: Upgrader;
  readonly #repairer: Repairer | undefined;
  /** Only envelopes have ids. */
  #idOf: ((claimed: string) => string) | undefined;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
    const { agentDialect: dialect, threadId, runId, mintId } = run;
    this.#upgrader = createUpgrader({ dialect, threadId, runId, mintId });
    const { agentProfile: profile, agentEndsStream: endsByItself, input } = run;
    const isAppRequest = run.isAppRequest === true;
    this.#repairer = createRepairer({ profile, endsByItself, input, isAppRequest });
  }

  push(context: EventContext): void {
    if (context.value === undefined) return this.next.push(context);
    const { events, notes, claim } = this.#upgrader.push(context.value);
    if (notes.length > 0) this.#run.observer.notes(notes);
    if (claim !== undefined) {
      this.#assertConfigured();
      return this.#pushEnvelope(context, events[0], claim);
    }
    let place: EventContext | undefined = context;
    for (const event of events) {
      const repaired = this.#repairer?.push(event);
      for (const native of repaired === undefined ? [event] : this.#noted(repaired)) {
        place ??= createEventContext(context.receivedAt);
        place.value = native;
        this.next.push(place);
        place = undefined;
      }
    }
  }

  override end(end: StreamEnd): void {
    const held = this.#repairer?.end(end.failure !== undefined);
    for (const native of held === undefined ? [] : this.#noted(held)) {
      const context = createEventContext(this.#run.clock.now());
      context.value = native;
      this.next.push(context);
    }
    this.next.end(end);
  }

  #noted({ events, notes }: RepairResult): JsonObject[] {
    if (notes.length > 0) this.#run.observer.notes(notes);
    return events;
  }

  /** An envelope has labels of its own, so the operator decides which agent may send envelopes. */
  #assertConfigured(): void {
    const { agent, agentDialect } = this.#run;
    if (agentDialect === "chio") return;
    throw new CountersignError(
      "ERR_ENVELOPE_NOT_CONFIGURED",
      `agent ${agent} sends event envelopes. Fix: set agents.${agent}.dialect to envelope`,
      { agent },
    );
  }

  /** One envelope is one event and one receipt; the deliver stage creates its native form. */
  #pushEnvelope(context: EventContext, first: JsonObject | undefined, claim: EnvelopeClaim): void {
    if (first?.["type"] === "RUN_STARTED") {
      // No policy judges this event and it has no receipt, so it must not contain values from the agent.
      const { metadata: _metadata, ...value } = first;
      const synthetic = createEventContext(context.receivedAt);
      synthetic.value = value;
      synthetic.isSynthetic = true;
      this.next.push(synthetic);
    }
    const { input, earlier, mintId } = this.#run;
    this.#idOf ??= createEventIds(
      () => [...input.messages.map(({ id }) => id), ...earlier.messages.keys()],
      mintId,
    );
    const id = this.#idOf(claim.envelope.event_id);
    const { agent, sessionId, recorder } = this.#run;
    const { receivedAt } = context;
    const own = claimId(recorder, id, { agent, sessionId, receivedAt }, mintId);
    const envelope = { ...claim.envelope, event_id: own };
    context.value = carryEnvelope(envelope);
    context.claim = { ...claim, envelope };
    this.next.push(context);
  }
}
