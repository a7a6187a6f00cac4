import type { Decision } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Step } from "../../event/stage.js";
import { endsRun } from "../deliver/run-error.js";
import { evaluateRules, subjectOf } from "./rule.js";
import type { RuleState } from "./rule.js";
import { RULES } from "./rules.js";

/** Evaluates the rules about the form that leaves, on each event that was allowed so far. */
export class FinalRules extends PassingStep {
  readonly #state: RuleState;
  /** A block ended the run: the person gets nothing more of it but its end, so nothing more is signed as delivered. */
  isOver = false;
  /** Whether the client receives an end of the run before the next event. */
  #hasEnd = false;

  constructor(state: RuleState, next: Step) {
    super(next);
    this.#state = state;
  }

  push(context: EventContext): void {
    if (this.isOver) return;
    const { decision, isListedPart, isSynthetic } = context;
    if (!isListedPart && (isSynthetic || decision?.allow === true)) this.#check(context, decision);
    this.next.push(context);
    const { event, decision: last } = context;
    if (event === undefined) return;
    // A blocked part of a list ends the run like the event that would stream it.
    if (last?.allow === false) this.isOver = endsRun(event, last, this.#hasEnd);
    else if (!isListedPart) this.#hasEnd = endsAfter(event, this.#hasEnd);
  }

  #check(context: EventContext, decision: Decision | undefined): void {
    const subject = subjectOf(this.#state, context);
    let found = decision === undefined ? undefined : evaluateRules(RULES.delivery, subject);
    // An observed denial does not replace an earlier one: enforce mode would name the rule of the first.
    const isSecond = found?.allow === true && decision?.allow === true && decision.observed;
    if (found !== undefined && !isSecond) context.decision = found;
    if (found?.allow !== false) found = evaluateRules(RULES.sound, subject);
    if (found?.allow !== false) return;
    context.decision = found;
  }
}

/** Whether the client has an end of the run after this event. */
function endsAfter({ type }: AgUiEvent, before: boolean): boolean {
  if (type === "RUN_STARTED") return false;
  return before || type === "RUN_FINISHED" || type === "RUN_ERROR";
}
