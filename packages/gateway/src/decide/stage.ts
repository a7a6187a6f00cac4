import type { JsonObject } from "@countersign/core";
import { assertInput } from "../inbound/request.js";
import type { Passage, Step } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";
import { emittedForm } from "../withhold/emit.js";
import type { Withheld } from "../withhold/register.js";
import { callKey, unitPlaceOf } from "../withhold/unit.js";
import type { UnitPlace } from "../withhold/unit.js";
import { HeldCalls } from "./held-calls.js";
import { createMessageJudge } from "./message-judge.js";
import { CLOSE, ORDER_RULE, ownDenial, withheldDenial } from "./structure.js";
import { OpenUnits } from "./units.js";

/** Asks the policy about every event and keeps withheld what was blocked once. It never waits. */
export const decide: Stage = {
  name: "decide",
  open: (run, next) => {
    const decider = new Decider(run, next);
    return { push: (passage) => decider.push(passage), end: (end) => next.end(end) };
  },
  admit: (request) => {
    const { facts } = request;
    if (facts === undefined) throw new TypeError("the request was not classified yet");
    const { decision, capability } = request.judge({
      facts,
      event: assertInput(request) as unknown as JsonObject,
    });
    request.decision = decision;
    if (capability !== undefined) request.capabilityId = capability.id;
  },
};

class Decider {
  readonly #run: Run;
  readonly #next: Step;
  readonly #units: OpenUnits;
  readonly #held = new HeldCalls();
  readonly #known = new Set<string>();

  constructor(run: Run, next: Step) {
    this.#run = run;
    this.#next = next;
    this.#units = new OpenUnits(run.withheld);
    for (const message of run.input.messages) {
      this.#known.add(message.id);
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls ?? []) this.#known.add(callKey(call.id));
    }
  }

  push(passage: Passage): void {
    const { event } = passage;
    if (event === undefined) return;
    const place = unitPlaceOf(event);
    if (this.#mustHold(passage, place)) return;
    if (event.type === "TOOL_CALL_END" && this.#held.has(event.toolCallId)) {
      this.#releaseCall(event.toolCallId, passage);
      return;
    }
    this.#decide(passage, place);
    this.#pass(passage, place);
  }

  /** A call whose arguments the policy looks at shows nothing before they are whole. */
  #mustHold(passage: Passage, place: UnitPlace | undefined): boolean {
    const { event } = passage;
    if (place === undefined || this.#run.withheld.find(place.key) !== undefined) return false;
    if (event?.type === "TOOL_CALL_START") {
      if (!this.#run.policy.needsArguments(event.toolCallName)) return false;
      this.#held.hold(event.toolCallId, passage);
      return true;
    }
    if (event?.type !== "TOOL_CALL_ARGS" && event?.type !== "TOOL_CALL_RESULT") return false;
    if (!this.#held.has(event.toolCallId)) return false;
    this.#held.hold(event.toolCallId, passage);
    return true;
  }

  /** The end brings the whole arguments: its verdict is the verdict of the call. */
  #releaseCall(toolCallId: string, end: Passage): void {
    const held = this.#held.release(toolCallId);
    const [start] = held;
    this.#decide(end, { key: callKey(toolCallId), phase: "open" });
    for (const passage of [...held, end]) {
      if (passage !== end) {
        if (end.decision !== undefined) passage.decision = end.decision;
        if (end.capabilityId !== undefined) passage.capabilityId = end.capabilityId;
      }
      const place = passage === start ? "open" : passage === end ? "close" : "continue";
      this.#pass(passage, { key: callKey(toolCallId), phase: place });
    }
  }

  #decide(passage: Passage, place: UnitPlace | undefined): void {
    const { event, facts, violation, claim } = passage;
    if (event === undefined || facts === undefined) return;
    const withheld = this.#findWithheld(passage, place);
    if (withheld !== undefined) {
      passage.decision = this.#units.mustClose(place) ? CLOSE : withheldDenial(withheld);
      return;
    }
    if (violation?.severity === "error") {
      passage.decision = ownDenial(ORDER_RULE, `${violation.rule}: ${violation.message}`, "end");
      return;
    }
    const { decision, capability } = this.#run.judge({
      facts,
      isContinuation: place?.phase === "continue" || place?.phase === "close",
      violation,
      presented: claim?.capability,
      event: event as unknown as JsonObject,
    });
    passage.decision = !decision.allow && this.#units.mustClose(place) ? CLOSE : decision;
    if (capability !== undefined) passage.capabilityId = capability.id;
  }

  #findWithheld(passage: Passage, place: UnitPlace | undefined): Withheld | undefined {
    const { event } = passage;
    const { withheld } = this.#run;
    if (event?.type === "SUBAGENT_STARTED" && event.parentSubagentRunId !== undefined) {
      const parent = withheld.find(`subagent:${event.parentSubagentRunId}`);
      if (parent !== undefined) return parent;
    }
    return place === undefined ? undefined : withheld.find(place.key);
  }

  #pass(passage: Passage, place: UnitPlace | undefined): void {
    const { event, decision } = passage;
    if (event === undefined || decision === undefined) return;
    this.#units.settle(place, decision);
    if (decision.allow) this.#prepare(passage);
    this.#next.push(passage);
  }

  /** Takes out of an allowed event what must not leave with it. */
  #prepare(passage: Passage): void {
    const { event } = passage;
    if (event === undefined) return;
    const emitted = emittedForm(
      event,
      this.#run.withheld,
      createMessageJudge({
        run: this.#run,
        judge: this.#run.judge,
        known: this.#known,
        blocked: (part) => this.#next.push(part),
      }),
    );
    if (emitted === undefined) {
      passage.decision = ownDenial(
        "gateway/withheld",
        "nothing is left of what the run asks",
        "end",
      );
      return;
    }
    if (emitted !== event) passage.emitted = emitted;
    if (event.type === "TEXT_MESSAGE_START" || event.type === "REASONING_MESSAGE_START") {
      this.#known.add(event.messageId);
    } else if (event.type === "ACTIVITY_SNAPSHOT" || event.type === "TOOL_CALL_RESULT") {
      this.#known.add(event.messageId);
    } else if (event.type === "TOOL_CALL_START") {
      this.#known.add(callKey(event.toolCallId));
      this.#known.add(event.parentMessageId ?? event.toolCallId);
    }
  }
}
