import { utf8Length } from "@countersign/core";
import { STREAM_RULES } from "@countersign/policy";
import type { Decision } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId, Violation } from "@countersign/wire/order";
import type { StreamViolation } from "../../event/event-context.js";
import { isRunLimit } from "../../event/run-limits.js";
import { permitWithObserved, withheldDenial } from "./denial.js";
import { namesPrototype } from "./prototype-names.js";
import type { RuleState, Subject } from "./rule.js";

export function exceedsRunLimit({ context: { refused } }: Subject): string | undefined {
  return refused !== undefined && isRunLimit(refused) ? `run limit: ${refused}` : undefined;
}

export function isInvalid({ context: { refused } }: Subject): string | undefined {
  return refused === undefined ? undefined : `invalid event: ${refused}`;
}

/**
 * An event that violates a rule that the official client checks: the client would throw, so the run ends. The policy decides about a
 * rule that is only in the protocol's text (`ag_ui_order`).
 */
export function breaksOrder({ context: { violations } }: Subject): string | undefined {
  const broken = violations?.find(isOfOfficialClient);
  return broken && `${broken.rule}: ${broken.message}`;
}

function isOfOfficialClient(violation: Violation | StreamViolation): violation is Violation {
  if (violation.severity !== "error" || Object.hasOwn(STREAM_RULES, violation.rule)) return false;
  const { reference } = ORDER_RULES[violation.rule as OrderRuleId] ?? { reference: "V" };
  return !reference.startsWith("E");
}

export function isOfWithheldUnit({ context, state }: Subject): Decision | undefined {
  return context.event && withheldDecision(state, context.event);
}

/** The decision about an event of a withheld unit; `undefined` for every other event. */
export function withheldDecision(state: RuleState, event: AgUiEvent): Decision | undefined {
  const why = state.register.findFor(event);
  if (why === undefined) return undefined;
  const denial = withheldDenial(why);
  const isObserved = state.run.policy.mode === "observe" && why.isEnforced !== true;
  return isObserved ? permitWithObserved(denial) : denial;
}

/** A run that starts in the stream in which a run ended by asking: only the next request can have the answer. */
export function followsQuestion({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "RUN_STARTED" || !state.view.hasAsked || !state.run.agentReadsInput) return;
  return "the run before it asked the person, who has not answered";
}

/** The answer to the first question would answer the second. `ag_ui_order` blocks two questions of one event that have one id. */
export function reusesQuestionId({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "RUN_FINISHED" || event.outcome?.type !== "interrupt") return undefined;
  const { approvals } = state.run;
  const isReused = event.outcome.interrupts.some((one) => approvals?.isOtherQuestion(one));
  return isReused ? "the question has the id of another that is open" : undefined;
}

export function speaksAsOther({ context: { event } }: Subject): string | undefined {
  if (event?.type !== "TEXT_MESSAGE_START" || (event.role ?? "assistant") === "assistant") return;
  return `an agent may not speak as ${event.role}`;
}

export function answersForClient({ context: { event }, state, part }: Subject): string | undefined {
  if (event?.type !== "TOOL_CALL_RESULT") return undefined;
  const name = state.view.toolName(event.toolCallId);
  const isClients = name !== undefined && state.clientTools.has(name);
  if (
    !isClients &&
    part?.answersClientsCall !== true &&
    !state.view.wasClientsCall(event.toolCallId)
  )
    return undefined;
  const { rules } = state.run.policy.document;
  if (rules.ag_ui_tools?.allow_agent_results === true) return undefined;
  return "only the client can answer this tool";
}

export function reachesPrototype({ context: { event } }: Subject): string | undefined {
  return event && namesPrototype(event) ? "a member reaches for a prototype" : undefined;
}

export function isRawBesideWithheld({ context, state }: Subject): string | undefined {
  if (context.event?.type !== "RAW" || state.register.size === 0) return undefined;
  return "a raw event may repeat what is withheld";
}

/** A list that removes words of the person which the gateway could not restore. */
export function losesWords({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "MESSAGES_SNAPSHOT" || !state.view.losesWords(event.messages)) return;
  return "the list changes or leaves out what the person said, and the request does not hold it";
}

/** The gateway cannot read an encrypted value, and the client sends it back with every request. */
export function hasLongEncryptedValue({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "REASONING_ENCRYPTED_VALUE") return undefined;
  const most = state.run.runLimits.encryptedBytes;
  // The kind is opaque too, and travels with the value.
  if (utf8Length(event.encryptedValue + (event.encryptedValueType ?? "")) <= most) return undefined;
  return `the encrypted value is longer than limits.encrypted_value_bytes (${most})`;
}
