import type { JsonObject } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type { CompiledPolicy, Denial, EventFacts, ViolationFacts } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { clientToolsOf } from "../classify/client-tools.js";
import type { ClientTools } from "../classify/client-tools.js";
import { PassingStep } from "../../event/event-context.js";
import type { EventContext, Step, StreamEnd } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { Stage } from "../../event/stage.js";
import { bareEnd, emittedForm, withoutProblem } from "../withhold/emit.js";
import type { MessageJudge } from "../withhold/messages.js";
import { WithheldRegister } from "../../event/withheld-register.js";
import type { Withheld } from "../../event/withheld-register.js";
import { callKey, keysOf, unitPlaceOf } from "../../event/unit.js";
import type { UnitPlace } from "../../event/unit.js";
import { BudgetGate } from "./budget-gate.js";
import { evaluateEarlier } from "./evaluate-uncounted.js";
import { openContent } from "./content.js";
import type { ContentWatch } from "./content.js";
import { FinalRules } from "./final-rules.js";
import { HeldCalls } from "./held-calls.js";
import { callIntrusion, intrudingPlace, intrusionOf } from "./intrusion.js";
import type { Intrusion } from "./intrusion.js";
import { DeliveredState } from "./delivered-state.js";
import { keepingActivities, removesMore } from "./kept-activities.js";
import { createMessageJudge } from "./message-judge.js";
import {
  CLOSE,
  observing,
  orderDenial,
  ownDenial,
  ownRule,
  refusalDenial,
  withheldDenial,
} from "./structure.js";
import type { OwnRuleFacts } from "./structure.js";
import { OpenUnits } from "./units.js";

/** Asks the policy about every event and keeps withheld what was blocked once. It never waits. */
export const decide: Stage = {
  name: "decide",
  open: (run, next) => {
    const decider = new Decider(run, new FinalRules(run, next));
    const { reserve, caps, hold } = run;
    return reserve === undefined || hold === undefined
      ? decider
      : new BudgetGate(decider, { reserve, caps }, hold);
  },
};

/** Events that are judged by what the client has. */
const CHANGES_CLIENT: ReadonlySet<AgUiEvent["type"]> = new Set([
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "MESSAGES_SNAPSHOT",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
]);

/** The calls of a message list are judged one by one, as if they had been streamed: the list itself makes none. */
function ofListItself(event: AgUiEvent, facts: EventFacts): EventFacts {
  if (event.type !== "MESSAGES_SNAPSHOT" && event.type !== "RUN_STARTED") return facts;
  const { toolCalls: _judgedApart, ...rest } = facts;
  return rest;
}

class Decider extends PassingStep implements OwnRuleFacts {
  readonly #run: Run;
  /** In observe mode nothing is withheld, so what would have been is remembered for this run alone. */
  readonly #register: WithheldRegister;
  readonly #units: OpenUnits;
  readonly #held = new HeldCalls();
  readonly #known: DeliveredState;
  /** Only where the policy reads text. */
  readonly #content: ContentWatch | undefined;
  readonly clientTools: ClientTools;
  /** Made with the first call: most runs have none. */
  #toolNames: Map<string, string> | undefined;
  #over = false;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
    const observes = run.policy.mode === "observe";
    this.#register = observes ? new WithheldRegister() : run.withheld;
    this.#units = new OpenUnits(this.#register, observes);
    this.#known = new DeliveredState(run.input, run.earlier);
    this.#content = openContent(run);
    this.clientTools = clientToolsOf(run);
  }

  get policy(): CompiledPolicy {
    return this.#run.policy;
  }

  toolName(toolCallId: string): string | undefined {
    return this.#toolNames?.get(toolCallId) ?? this.#known.callName(toolCallId);
  }

  get maxEncryptedBytes(): number {
    return this.#run.runLimits.encryptedBytes;
  }

  wasClientsCall(toolCallId: string): boolean {
    return this.#known.wasClientsCall(toolCallId);
  }

  losesWords(list: readonly Message[]): boolean {
    return this.#known.losesWords(list);
  }

  hasWithheld(): boolean {
    return this.#register.size > 0;
  }

  push(context: EventContext): void {
    const { event, refused } = context;
    if (refused !== undefined) {
      context.decision = refusalDenial(refused);
      return this.next.push(context);
    }
    if (event === undefined || this.#over) return;
    if (context.supplied) return this.next.push(context);
    const broken = orderDenial(context.violations);
    if (broken !== undefined) {
      context.decision = broken;
      return this.#pass(context, undefined);
    }
    if (this.#repels(context, event)) return undefined;
    this.#notice(event);
    this.#classifyAgain(context, event);
    const place = unitPlaceOf(event);
    if (this.#mustHold(context, event, place)) return undefined;
    if (event.type === "TOOL_CALL_END" && this.#held.has(event.toolCallId)) {
      return this.#releaseCall(event.toolCallId, context);
    }
    this.#decide(context, place);
    return this.#pass(context, place);
  }

  override end(end: StreamEnd): void {
    this.#giveUp();
    this.next.end(end);
  }

  /** The stream is over: what was held for its arguments will never have them. */
  #giveUp(): void {
    const denial = ownDenial("gateway/held", "the tool call was never complete");
    for (const id of this.#held.ids()) {
      this.#register.add(callKey(id), { rule: denial.rule, reason: denial.reason });
      for (const context of this.#held.release(id)) {
        context.decision = denial;
        this.next.push(context);
      }
    }
  }

  /** Blocks an event that writes into a message or call that is not its own; its name and its unit are not stored. */
  #repels(context: EventContext, event: AgUiEvent): boolean {
    if ("toolCallId" in event && event.type !== "TOOL_CALL_RESULT") {
      // It is held since before the call was listed, and is judged as a whole at its end.
      if (event.toolCallId !== undefined && this.#held.has(event.toolCallId)) return false;
    }
    const { policy } = this.#run;
    const intrusion = intrusionOf(event, this.#known, policy.onBlock, this.#register);
    if (intrusion === undefined) return false;
    if (intrusion.denial.rule === "gateway/reopened") {
      // A withheld unit keeps the rule that withheld it. A unit that was opened before a list must be closed.
      if (this.#whyWithheld(event) !== undefined) return false;
      if (this.#units.mustClose(unitPlaceOf(event))) return false;
    }
    context.decision = observing(policy, intrusion.denial);
    this.#pass(context, intrudingPlace(event, intrusion));
    return true;
  }

  #notice(event: AgUiEvent): void {
    if (event.type === "TOOL_CALL_START") {
      this.#toolNames ??= new Map();
      if (this.#toolNames.has(event.toolCallId)) return;
      this.#toolNames.set(event.toolCallId, event.toolCallName);
    } else if (event.type === "RUN_STARTED" || event.type === "RUN_ERROR") {
      this.#giveUp();
      this.#units.clear();
    }
  }

  /** Classifies an event again that waited at the gate: the events before it have changed the client since. */
  #classifyAgain(context: EventContext, event: AgUiEvent): void {
    const { client, policy } = this.#run;
    if (context.clientVersion === client.version || !CHANGES_CLIENT.has(event.type)) return;
    if (context.claim !== undefined) return;
    const { refinements } = policy;
    context.facts = classifyEvent(event, { refinements, clientTools: this.clientTools, client });
    context.clientVersion = client.version;
  }

  /** A call whose arguments the policy looks at shows nothing before they are whole. */
  #mustHold(context: EventContext, event: AgUiEvent, place: UnitPlace | undefined): boolean {
    if (event.type === "TOOL_CALL_START") {
      if (place === undefined || this.#whyWithheld(event) !== undefined) return false;
      if (!this.#run.policy.needsArguments(event.toolCallName)) return false;
      this.#held.hold(event.toolCallId, context);
      return true;
    }
    const call = this.#held.callOf(event);
    if (call === undefined) return false;
    this.#held.hold(call, context);
    return true;
  }

  /** The end brings the whole arguments: its verdict is the verdict of the call. */
  #releaseCall(toolCallId: string, end: EventContext): void {
    const held = this.#held.release(toolCallId);
    const [start] = held;
    const key = callKey(toolCallId);
    // A violation of the start is one of the whole call.
    if (start?.violations !== undefined) {
      end.violations = [...start.violations, ...(end.violations ?? [])];
    }
    const intrusion = this.#intrusionOfHeld(start?.event);
    if (intrusion === undefined) this.#decide(end, { key, openKey: key, phase: "open" }, held);
    else end.decision = observing(this.#run.policy, intrusion.denial);
    for (const context of [...held, end]) {
      const { event } = context;
      if (event?.type === "TOOL_CALL_RESULT" && end.decision?.allow === true) {
        // Its id may have become another's while it was held.
        if (this.#repels(context, event)) continue;
        const place = unitPlaceOf(event);
        this.#decide(context, place);
        this.#pass(context, place);
        continue;
      }
      context.decision = end.decision;
      context.capabilityId = end.capabilityId;
      const phase = context === start ? "open" : context === end ? "close" : "continue";
      this.#pass(context, { key, openKey: key, phase });
    }
  }

  /** The id of its message may have become another's while a call was held. */
  #intrusionOfHeld(start: AgUiEvent | undefined): Intrusion | undefined {
    if (start?.type !== "TOOL_CALL_START") return undefined;
    return callIntrusion(start, this.#known, this.#run.policy.onBlock, this.#register);
  }

  #decide(
    context: EventContext,
    place: UnitPlace | undefined,
    held: readonly EventContext[] = [],
  ): void {
    const { event, facts, claim } = context;
    if (event === undefined || facts === undefined) return;
    const { policy } = this.#run;
    const withheld = this.#whyWithheld(event);
    const own = withheld === undefined ? ownRule(event, this) : withheldDenial(withheld);
    if (own !== undefined) {
      const decision = observing(policy, own);
      context.decision = !decision.allow && this.#units.mustClose(place) ? CLOSE : decision;
      return;
    }
    const remark = evaluateEarlier(this.#run, facts, held);
    if (remark?.allow === false) {
      context.decision = remark;
      return;
    }
    const { decision, capability } = this.#run.judge({
      facts: ofListItself(event, facts),
      isContinuation: place?.phase === "continue" || place?.phase === "close",
      violations: this.#violationsOf(context, event),
      presented: claim?.capability,
      content: this.#content?.read(context),
      event: event as unknown as JsonObject,
      subject:
        claim === undefined
          ? { payload: event as unknown as JsonObject }
          : { id: claim.envelope.event_id, payload: claim.envelope.payload },
    });
    context.decision =
      !decision.allow && this.#units.mustClose(place)
        ? CLOSE
        : decision.allow && decision.observed === undefined
          ? (remark ?? decision)
          : decision;
    this.#content?.settle(context, context.decision.allow);
    if (capability !== undefined) context.capabilityId = capability.id;
  }

  /** The rules about the stream that an event breaks; those of one message of a list are held against that message. */
  #violationsOf(
    { violations }: EventContext,
    event: AgUiEvent,
  ): readonly ViolationFacts[] | undefined {
    const own = violations?.filter((one) => messageOf(one) === undefined);
    const rule = this.#run.client.brokenBy(event);
    return rule === undefined ? own : [...(own ?? []), { rule, severity: "error" }];
  }

  #whyWithheld(event: AgUiEvent): Withheld | undefined {
    if (this.#register.size === 0) return undefined;
    for (const key of keysOf(event)) {
      const why = this.#register.find(key);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  #pass(context: EventContext, place: UnitPlace | undefined): void {
    const { event, decision } = context;
    if (event === undefined || decision === undefined) return;
    this.#units.settle(place, decision);
    if (decision === CLOSE) context.emitted = bareEnd(event);
    else if (decision.allow) this.#prepare(context, event);
    if (context.decision?.allow === false && endsTheRun(event, context.decision)) this.#over = true;
    this.next.push(context);
  }

  /** Takes out of an allowed event what must not leave with it. */
  #prepare(context: EventContext, event: AgUiEvent): void {
    const sent = this.#run.input.messages;
    const filtered = emittedForm(
      event,
      this.#register,
      sent,
      () => this.#messageJudge(context),
      this.#known,
    );
    const emitted = filtered && keepingActivities(event, filtered, this.#run.client);
    // Observe mode changes nothing on the wire; the receipts say what enforce mode would remove. An agent never speaks
    // for the gateway, though: an application that reads 401 in a problem asks for a password.
    const { policy } = this.#run;
    if (emitted === undefined) {
      const denial = ownDenial("gateway/withheld", "nothing is left of what the run asks", "end");
      context.decision = observing(policy, denial);
      return;
    }
    const denial = this.#removalDenial(event, emitted);
    if (denial !== undefined) {
      context.decision = denial;
      return;
    }
    const left =
      policy.mode !== "observe"
        ? emitted
        : event.type === "RUN_ERROR"
          ? withoutProblem(event)
          : event;
    if (left !== event) context.emitted = left;
    // Known is what enforcing would have shown, so that a remark is followed by the same remarks.
    const { decision } = context;
    const isRemark = decision?.allow === true && decision.observed !== undefined;
    if (policy.mode === "observe" && isRemark) return;
    this.#known.see(emitted);
    this.#content?.see(emitted);
    this.#run.client.see(emitted);
  }

  /** A list that takes something away only by what was taken out of it is asked about in the form that leaves. */
  #removalDenial(event: AgUiEvent, emitted: AgUiEvent): Denial | undefined {
    const { client, policy } = this.#run;
    if (!removesMore(event, emitted, client)) return undefined;
    const { refinements } = policy;
    const facts = classifyEvent(emitted, { refinements, clientTools: this.clientTools, client });
    const question = { facts, isPart: true, event: emitted as unknown as JsonObject };
    const { decision } = this.#run.judge(question);
    return decision.allow ? undefined : decision;
  }

  #messageJudge({ receivedAt, violations, decision }: EventContext): MessageJudge {
    const byMessage = new Map<string | undefined, ViolationFacts[]>();
    for (const one of violations ?? []) {
      const known = byMessage.get(messageOf(one));
      if (known === undefined) byMessage.set(messageOf(one), [one]);
      else known.push(one);
    }
    return createMessageJudge({
      run: this.#run,
      receivedAt,
      known: this.#known,
      register: this.#register,
      clientTools: this.clientTools,
      isObserved: decision?.allow === true && decision.observed !== undefined,
      toolName: (id) => this.#toolNames?.get(id),
      isHeld: (id) => this.#held.has(id),
      ownRule: (part) => ownRule(part, this),
      hasText: (message) => this.#content?.hasText(message) === true,
      judged: (part) => this.next.push(part),
      violations: (messageId) => byMessage.get(messageId) ?? [],
    });
  }
}

function messageOf(violation: object): string | undefined {
  return "messageId" in violation ? (violation.messageId as string) : undefined;
}

/** A block after which the person hears nothing more of this run but its end. */
function endsTheRun(event: AgUiEvent, denial: Denial): boolean {
  return denial.onBlock === "end" || event.type === "RUN_STARTED" || event.type === "RUN_FINISHED";
}
