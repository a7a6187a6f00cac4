import { classifyEvent } from "@countersign/policy";
import type { ViolationFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { clientToolsOf } from "../classify/call-memory.js";
import { createEventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, StreamEnd } from "../../event/stage.js";
import type { DecisionRequest, DecisionResult } from "../../event/judge.js";
import type { Run } from "../../event/run.js";
import { bareEnd, emittedForm, observedForm, withoutProblem } from "../withhold/emit.js";
import type { MessageJudge } from "../withhold/messages.js";
import { WithheldRegister } from "../../event/withheld-register.js";
import { callKey, unitPlaceOf } from "../../event/unit.js";
import type { UnitPlace } from "../../event/unit.js";
import { QuotaGate } from "./quota-gate.js";
import { openContent } from "./content.js";
import { CLOSE, denialIn } from "./denial.js";
import { FinalRules } from "./final-rules.js";
import { createGuard } from "./guard.js";
import { HeldCalls } from "./held-calls.js";
import { attemptPlace } from "./intrusion.js";
import { keepingActivities } from "./kept-activities.js";
import { createMessageJudge } from "./message-judge.js";
import { listedMessageOf } from "./policy-checks.js";
import { bindQuarantine } from "./quarantine.js";
import { QuestionGate } from "./question-gate.js";
import { CHANGES_CLIENT, evaluateRules, needsArguments, subjectOf } from "./rule.js";
import type { RuleState, Subject } from "./rule.js";
import { RULES } from "./rules.js";
import { RunView } from "./run-view.js";
import { SurfaceWatch } from "./surfaces.js";

/** Evaluates the rules of `rules.ts` on every event, the policy among them, and withholds every later form of a blocked unit. It never waits. */
export const decide: Stage = {
  name: "decide",
  open: (run, next) => {
    const state = openState(run);
    const decider = new Decider(state, new FinalRules(state, next));
    const { reserve, caps, pause, approvals } = run;
    const gate =
      reserve === undefined || pause === undefined
        ? decider
        : new QuotaGate(decider, { reserve, caps }, pause);
    return approvals === undefined ? gate : new QuestionGate(gate, state, approvals);
  },
};

/** Creates the state of a run that the rules read. */
function openState(run: Run): RuleState {
  const observes = run.policy.mode === "observe";
  // In observe mode nothing is withheld; the units that enforce mode would withhold are known for this run alone.
  const register = observes ? new WithheldRegister() : run.withheld;
  const state: RuleState = {
    run,
    register,
    view: new RunView(run, register, observes),
    clientTools: clientToolsOf(run),
    content: openContent(run),
    guard: createGuard(),
    surfaces: new SurfaceWatch(run),
    judge: bindQuarantine(
      run,
      run.approvals === undefined ? run.judge : (request) => judgeWithApprovals(state, request),
    ),
  };
  return state;
}

/** Evaluates the policy, and the rules about permitted calls on its permit. */
function judgeWithApprovals(state: RuleState, request: DecisionRequest): DecisionResult {
  const result = state.run.judge(request);
  if (!result.decision.allow) return result;
  const subject = { ...subjectOf(state, NO_EVENT), request, permit: result.decision };
  const decision = evaluateRules(RULES.permitted, subject);
  return decision === undefined ? result : { ...result, decision };
}

const NO_EVENT = createEventContext(0);

/** Whether an event is delivered unchanged and no rule would block it. */
function isDeliveredWhole({ claim, violations, emitted, decision }: EventContext): boolean {
  if (claim !== undefined || violations !== undefined || emitted !== undefined) return false;
  return decision?.allow === true && decision.observed === undefined;
}

class Decider extends PassingStep {
  readonly #state: RuleState;
  readonly #held = new HeldCalls();
  readonly #final: FinalRules;
  readonly #observes: boolean;

  constructor(state: RuleState, next: FinalRules) {
    super(next);
    this.#observes = state.run.policy.mode === "observe";
    this.#state = state;
    this.#final = next;
  }

  push(context: EventContext): void {
    const { event, refused } = context;
    if (refused !== undefined) {
      context.decision = evaluateRules(RULES.input, subjectOf(this.#state, context));
      return this.next.push(context);
    }
    if (event === undefined || this.#final.isOver) return;
    if (context.isSynthetic) return this.next.push(context);
    if (context.isContinued) return this.#continue(context, event);
    const place = unitPlaceOf(event);
    const subject = subjectOf(this.#state, context, place);
    context.decision = evaluateRules(RULES.order, subject);
    if (context.decision !== undefined) return this.#pass(context, undefined);
    if (this.#rejects(subject, event)) return undefined;
    if (event.type === "TOOL_CALL_START") {
      this.#state.view.opened(event.toolCallId, event.toolCallName);
    } else if (event.type === "RUN_STARTED" || event.type === "RUN_ERROR") {
      this.#giveUp();
      this.#state.view.closeAll();
    }
    this.#classifyAgain(context, event);
    if (this.#mustHold(context, event, place)) return undefined;
    if (event.type === "TOOL_CALL_END" && this.#held.has(event.toolCallId)) {
      return this.#releaseCall(event.toolCallId, context);
    }
    this.#decide(subject);
    this.#pass(context, place);
    context.canContinue = isDeliveredWhole(context);
    return undefined;
  }

  /**
   * Decides about a delta that has only its text new. A rule that would block it makes it an event like any other, and the next one too.
   */
  #continue(context: EventContext, event: AgUiEvent): void {
    context.decision = evaluateRules(RULES.continued, subjectOf(this.#state, context));
    context.canContinue = isDeliveredWhole(context);
    context.isContinued = context.canContinue;
    if (!context.canContinue) return this.#pass(context, unitPlaceOf(event));
    this.#state.run.client.see(event);
    return this.next.push(context);
  }

  override end(end: StreamEnd): void {
    this.#giveUp();
    this.next.end(end);
  }

  /** The stream is over: the arguments of a held call will never be complete. */
  #giveUp(): void {
    for (const id of this.#held.ids()) {
      for (const context of this.#held.release(id)) {
        const decision = evaluateRules(RULES.end, subjectOf(this.#state, context));
        context.decision = decision;
        if (decision?.allow === false) {
          const { rule, reason } = decision;
          this.#state.register.add(callKey(id), { rule, reason });
        }
        this.next.push(context);
      }
    }
  }

  /** Blocks an event that writes into a message or call that is not its own; its unit is not stored. */
  #rejects(subject: Subject, event: AgUiEvent): boolean {
    const { context } = subject;
    if ("toolCallId" in event && event.type !== "TOOL_CALL_RESULT") {
      // It is held since before the call was listed, and is judged as a whole at its end.
      if (event.toolCallId !== undefined && this.#held.has(event.toolCallId)) return false;
    }
    const decision = evaluateRules(RULES.arrival, subject);
    if (decision === undefined) return false;
    context.decision = decision;
    this.#pass(context, attemptPlace(event, decision));
    return true;
  }

  /** Classifies an event again that waited at the gate: the events before it have changed the client since. */
  #classifyAgain(context: EventContext, event: AgUiEvent): void {
    const { clientTools, run } = this.#state;
    const { client, policy } = run;
    if (context.clientVersion === client.version || !CHANGES_CLIENT.has(event.type)) return;
    if (context.claim !== undefined) return;
    const { refinements } = policy;
    context.facts = classifyEvent(event, { refinements, clientTools, client });
    context.clientVersion = client.version;
  }

  /** A call whose arguments a rule reads is not delivered before they are complete. */
  #mustHold(context: EventContext, event: AgUiEvent, place: UnitPlace | undefined): boolean {
    if (event.type === "TOOL_CALL_START") {
      const { register, run } = this.#state;
      if (place === undefined || register.findFor(event) !== undefined) return false;
      if (!needsArguments(run, event.toolCallName)) return false;
      this.#held.hold(event.toolCallId, context);
      return true;
    }
    const call = this.#held.callOf(event);
    if (call === undefined) return false;
    this.#held.hold(call, context);
    return true;
  }

  /** The end brings the whole arguments: its decision is that of the call. */
  #releaseCall(toolCallId: string, end: EventContext): void {
    const held = this.#held.release(toolCallId);
    const [start = end] = held;
    const key = callKey(toolCallId);
    // A violation of the start is one of the whole call.
    if (start !== end && start.violations !== undefined) {
      end.violations = [...start.violations, ...(end.violations ?? [])];
    }
    // The id of its message may have become another's while the call was held.
    end.decision = evaluateRules(RULES.release, subjectOf(this.#state, start));
    if (end.decision === undefined) {
      this.#decide(subjectOf(this.#state, end, { key, openKey: key, phase: "open" }, held));
    }
    for (const context of [...held, end]) {
      const { event } = context;
      if (event?.type === "TOOL_CALL_RESULT" && end.decision?.allow === true) {
        const place = unitPlaceOf(event);
        const subject = subjectOf(this.#state, context, place);
        // Its id may have become another's while it was held.
        if (this.#rejects(subject, event)) continue;
        this.#decide(subject);
        this.#pass(context, place);
        continue;
      }
      context.decision = end.decision;
      context.capabilityId = end.capabilityId;
      const phase = context === start ? "open" : context === end ? "close" : "continue";
      this.#pass(context, { key, openKey: key, phase });
    }
  }

  #decide(subject: Subject): void {
    const { context, place, held } = subject;
    const { surfaces } = this.#state;
    surfaces.read(context, held);
    const decision = evaluateRules(RULES.event, subject);
    surfaces.settle(context, decision?.allow !== false);
    const isClosed = decision?.allow === false && this.#state.view.mustClose(place);
    // Only a bare end leaves, which draws nothing.
    if (isClosed) context.surface = undefined;
    context.decision = isClosed ? CLOSE : decision;
  }

  #pass(context: EventContext, place: UnitPlace | undefined): void {
    const { event, decision } = context;
    if (event === undefined || decision === undefined) return;
    this.#state.view.settle(place, decision);
    if (decision === CLOSE) context.emitted = bareEnd(event);
    else if (decision.allow) {
      this.#prepare(context, event);
      if (this.#observes && context.decision?.allow === true) {
        this.#observeDelivered(context, context.emitted ?? event);
      }
    }
    this.next.push(context);
  }

  /** In observe mode a client also gets what the run's view leaves out: its interfaces can be clicked. */
  #observeDelivered(context: EventContext, event: AgUiEvent): void {
    const { surfaces, register } = this.#state;
    if (event.type === "MESSAGES_SNAPSHOT" && register.size > 0) {
      surfaces.readUnjudged(context, event.messages);
    }
    surfaces.see(context, event);
  }

  /** Removes from an allowed event what must not leave with it. */
  #prepare(context: EventContext, event: AgUiEvent): void {
    const { run, register, view, content } = this.#state;
    const { client, input } = run;
    const judge = (): MessageJudge => this.#messageJudge(context);
    const filtered = emittedForm(event, register, input.messages, judge, view);
    const emitted = filtered && keepingActivities(event, filtered, client);
    if (emitted !== event) {
      const subject = { ...subjectOf(this.#state, context), emitted };
      const found = evaluateRules(RULES.emitted, subject);
      const denial = found && register.hasEnforced ? denialIn(found) : undefined;
      const decision = denial ?? found;
      if (decision !== undefined) context.decision = decision;
      if (decision !== undefined || emitted === undefined) return;
    }
    // Observe mode changes nothing on the wire; the receipts say what enforce mode would remove. A list could bring back
    // what a block with `mode: enforce` withheld, so it then leaves without that. An agent never speaks
    // for the gateway, though: an application that reads 401 in a problem asks for a password.
    const left = this.#observes ? (this.#observedForm(event) ?? emitted) : emitted;
    if (left !== event) context.emitted = left;
    // The view is that of enforce mode, so that an observed denial is followed by the same ones.
    const { decision } = context;
    const isObserved = decision?.allow === true && decision.observed !== undefined;
    if (this.#observes && isObserved) return;
    view.see(emitted);
    content?.see(emitted);
    if (!this.#observes) this.#state.surfaces.see(context, emitted);
    client.see(emitted);
  }

  #observedForm(event: AgUiEvent): AgUiEvent | undefined {
    const { register, view, surfaces } = this.#state;
    if (!register.hasEnforced) return event.type === "RUN_ERROR" ? withoutProblem(event) : event;
    const form = observedForm(event, register, view);
    return form && keepingActivities(event, form, surfaces.client);
  }

  #messageJudge(context: EventContext): MessageJudge {
    const byMessage = new Map<string | undefined, ViolationFacts[]>();
    for (const one of context.violations ?? []) {
      const known = byMessage.get(listedMessageOf(one));
      if (known === undefined) byMessage.set(listedMessageOf(one), [one]);
      else known.push(one);
    }
    return createMessageJudge({
      state: this.#state,
      list: context,
      isHeld: (id) => this.#held.has(id),
      judged: (part) => this.next.push(part),
      violations: (messageId) => byMessage.get(messageId) ?? [],
    });
  }
}
