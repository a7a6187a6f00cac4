import type {
  CompiledPolicy,
  Decision,
  OnBlock,
  Permit,
  PolicyMode,
  ViolationFacts,
} from "@countersign/policy";
import type { AgUiEvent, Message, ToolCall } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { DecisionRequest, DecisionResult } from "../../event/judge.js";
import type { OwnRuleId } from "../../event/own-rules.js";
import type { Run } from "../../event/run.js";
import type { UnitPlace } from "../../event/unit.js";
import type { WithheldRegister } from "../../event/withheld-register.js";
import type { ClientTools } from "../classify/call-memory.js";
import type { ContentWatch } from "./content.js";
import { ownDenial, permitWithObserved, wouldBlockRulesOf } from "./denial.js";
import type { Guard } from "./guard.js";
import type { RunView } from "./run-view.js";
import type { SurfaceWatch } from "./surfaces.js";

/** The state of one run that the rules read. */
export type RuleState = {
  readonly run: Run;
  /** The withheld units; in observe mode those that enforce mode would withhold in this run. */
  readonly register: WithheldRegister;
  readonly view: RunView;
  readonly clientTools: ClientTools;
  /** Only if the policy reads text. */
  readonly content: ContentWatch | undefined;
  readonly guard: Guard;
  /** The interfaces that the agent draws. */
  readonly surfaces: SurfaceWatch;
  /** Evaluates the policy and then the rules about permitted calls. */
  readonly judge: (request: DecisionRequest) => DecisionResult;
};

/** A part of a message list, or of the input that an agent repeats. */
export type ListedPart = {
  readonly message?: Message;
  /** The message with the same id in the request. */
  readonly original?: Message | undefined;
  /** The message that is delivered: the original, or the listed message if it matches the record of the thread. */
  readonly restored?: Message | undefined;
  readonly call?: ToolCall;
  /** The name under which the call is known. */
  readonly earlierName?: string | undefined;
  /** A listed result answers a call of the same list to a tool of the client. */
  readonly answersClientsCall?: boolean;
  /** `null` if the client already has the text. */
  readonly content?: null | undefined;
  /** Events that stand for the part, or for what is attached to it. */
  readonly events?: readonly AgUiEvent[];
  readonly violations?: readonly ViolationFacts[];
};

/** The subject of a rule: an event, or a part of one, in the state of its run. */
export type Subject = {
  readonly state: RuleState;
  readonly context: EventContext;
  readonly place: UnitPlace | undefined;
  /** The earlier events of a tool call that was held until its arguments were complete. */
  readonly held: readonly EventContext[];
  readonly part?: ListedPart;
  /** The form of the event that would leave; `undefined` if nothing is left. */
  readonly emitted?: AgUiEvent | undefined;
  /** The policy's request and permit, for the rules about permitted calls. */
  readonly request?: DecisionRequest;
  readonly permit?: Permit;
};

/** Events that are judged by what the client has. */
export const CHANGES_CLIENT: ReadonlySet<AgUiEvent["type"]> = new Set([
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "MESSAGES_SNAPSHOT",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
]);

/** Whether a call of this tool is held until its arguments are complete. */
export function needsArguments({ policy, approvals }: Run, toolName: string): boolean {
  return (
    approvals?.isAbout(toolName) === true ||
    policy.needsArguments(toolName) ||
    policy.surfaces.isRenderingTool(toolName)
  );
}

const NONE: readonly EventContext[] = [];

/** Creates the subject of an event. */
export function subjectOf(
  state: RuleState,
  context: EventContext,
  place?: UnitPlace,
  held: readonly EventContext[] = NONE,
): Subject {
  return { state, context, place, held };
}

/** One rule of the gateway, or one evaluation of the policy. */
export type Rule = {
  /** The name on a receipt. */
  readonly name: OwnRuleId | "policy" | "first rule";
  /** The event that the rule blocks, as a phrase. */
  readonly blocks: string;
  readonly check: (subject: Subject) => Decision | undefined;
};

/** The rules that are evaluated at one moment, in order. The first decision counts. */
export type Moment = { readonly when: string; readonly rules: readonly Rule[] };

/** The effect of a rule. By default the policy's `on_block` and its mode apply. */
export type Effect = {
  readonly onBlock?: OnBlock;
  /** `enforce`: the rule blocks in observe mode too. `approval`: the mode of `ag_ui_request.approval` applies. */
  readonly mode?: "enforce" | "approval";
  readonly reasonCode?: "order_violation";
};

/** A rule of the gateway. `reasonFor` returns the reason of a block. */
export function rule(
  name: OwnRuleId,
  blocks: string,
  reasonFor: (subject: Subject) => string | undefined,
  effect: Effect = {},
): Rule {
  const check = (subject: Subject): Decision | undefined => {
    const reason = reasonFor(subject);
    return reason === undefined ? undefined : decisionBy(name, reason, effect, subject);
  };
  return { name, blocks, check };
}

/** A step whose decision is that of another rule: the policy's, or the one that withheld the unit. */
export function step(name: "policy" | "first rule", blocks: string, check: Rule["check"]): Rule {
  return { name, blocks, check };
}

/** Evaluates the rules of a moment in order. Returns the first decision. */
export function evaluateRules({ rules }: Moment, subject: Subject): Decision | undefined {
  for (const { check } of rules) {
    const decision = check(subject);
    if (decision !== undefined) return decision;
  }
  return undefined;
}

function decisionBy(
  name: OwnRuleId,
  reason: string,
  { onBlock, mode, reasonCode }: Effect,
  { state, permit }: Subject,
): Decision {
  const { policy } = state.run;
  const own = ownDenial(name, reason, onBlock ?? policy.onBlock);
  const denial = reasonCode === undefined ? own : { ...own, reasonCode };
  if (modeOf(mode, policy) !== "observe") return denial;
  return permitWithObserved(denial, permit === undefined ? [] : wouldBlockRulesOf(permit));
}

function modeOf(mode: Effect["mode"], policy: CompiledPolicy): PolicyMode | "off" {
  if (mode === undefined) return policy.mode;
  return mode === "approval" ? policy.request.mode("approval") : mode;
}
