import { utf8Length } from "@countersign/core";
import { STREAM_RULES } from "@countersign/policy";
import type { CompiledPolicy, Decision, Denial, OnBlock, Permit } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId, Violation } from "@countersign/wire/order";
import { namesPrototype } from "./prototype-names.js";
import type { OwnRuleId } from "../../event/own-rules.js";
import type { ClientTools } from "../classify/client-tools.js";
import type { EventContext, StreamViolation } from "../../event/event-context.js";
import { isRunLimit } from "../../event/run-limits.js";
import type { Withheld } from "../../event/withheld-register.js";

/** Blocks that no policy can lift, because the stream itself would break or a withheld unit would return. */
export function withheldDenial(why: Withheld): Denial {
  return {
    allow: false,
    rule: why.rule,
    reason: why.reason,
    reasonCode: "evaluation_failed",
    onBlock: "drop",
  };
}

/** The end of a delivered unit passes although the rest is withheld: it carries nothing but an end. */
export const CLOSE: Permit = Object.freeze({ allow: true });

/** The rule that ends a run whose stream breaks the protocol. */
export const ORDER_RULE = "gateway/order";

/** A block of the gateway's own, outside any policy. */
export function ownDenial(rule: OwnRuleId, reason: string, onBlock: OnBlock = "drop"): Denial {
  return { allow: false, rule, reason, reasonCode: "evaluation_failed", onBlock };
}

/** The block for something that could not be read as an event, or that is beyond a limit of the run. */
export function refusalDenial(code: string): Denial {
  return isRunLimit(code)
    ? ownDenial("gateway/run-limit", `run limit: ${code}`)
    : ownDenial("gateway/invalid", `invalid event: ${code}`);
}

/**
 * The block for an event that breaks a rule the official client checks: it would throw, so the run ends.
 * What only the prose forbids is asked of the policy (`ag_ui_order`) instead.
 */
export function orderDenial(violations: EventContext["violations"]): Denial | undefined {
  const broken = violations?.find(isOfOfficialClient);
  if (broken === undefined) return undefined;
  return {
    ...ownDenial(ORDER_RULE, `${broken.rule}: ${broken.message}`, "end"),
    reasonCode: "order_violation",
  };
}

function isOfOfficialClient(violation: Violation | StreamViolation): violation is Violation {
  if (violation.severity !== "error" || Object.hasOwn(STREAM_RULES, violation.rule)) return false;
  const { reference } = ORDER_RULES[violation.rule as OrderRuleId] ?? { reference: "V" };
  return !reference.startsWith("E");
}

/** The facts that the rules about one event use beside the event. */
export type OwnRuleFacts = {
  readonly policy: CompiledPolicy;
  readonly clientTools: ClientTools;
  /** UTF-8 bytes that an encrypted value may have. */
  readonly maxEncryptedBytes: number;
  /** The name under which a call was opened. */
  toolName(toolCallId: string): string | undefined;
  /** Whether a call of an earlier run was one of a tool that the client declared then. */
  wasClientsCall(toolCallId: string): boolean;
  /** Whether anything is withheld on this thread. */
  hasWithheld(): boolean;
  /** Whether a list would remove words of the person that the gateway could not put back. */
  losesWords(list: readonly Message[]): boolean;
};

/** The rules about one event that no policy lifts: an agent may not speak or answer for the person. */
export function ownRule(event: AgUiEvent, facts: OwnRuleFacts): Denial | undefined {
  const { onBlock } = facts.policy;
  if (event.type === "TEXT_MESSAGE_START" && event.role !== undefined) {
    return event.role === "assistant"
      ? undefined
      : ownDenial("gateway/role", `an agent may not speak as ${event.role}`, onBlock);
  }
  if (event.type === "TOOL_CALL_RESULT") {
    const name = facts.toolName(event.toolCallId);
    const isClients = name !== undefined && facts.clientTools.has(name);
    if (!isClients && !facts.wasClientsCall(event.toolCallId)) return undefined;
    if (facts.policy.document.rules.ag_ui_tools?.allow_agent_results === true) return undefined;
    return ownDenial("gateway/result", "only the client can answer this tool", onBlock);
  }
  if (namesPrototype(event)) {
    return ownDenial("gateway/prototype", "a member reaches for a prototype", onBlock);
  }
  if (event.type === "RAW" && facts.hasWithheld()) {
    return ownDenial("gateway/raw", "a raw event may repeat what is withheld", onBlock);
  }
  if (event.type === "MESSAGES_SNAPSHOT" && facts.losesWords(event.messages)) {
    const reason =
      "the list changes or leaves out what the person said, and the request does not hold it";
    return ownDenial("gateway/rewritten", reason, onBlock);
  }
  if (event.type === "REASONING_ENCRYPTED_VALUE") {
    // The kind is opaque too, and travels with the value.
    return encryptedDenial(event.encryptedValue + (event.encryptedValueType ?? ""), facts);
  }
  return undefined;
}

/** Bounds an encrypted value: the gateway cannot read it, and the client sends it back with every request. */
function encryptedDenial(
  value: string,
  { policy, maxEncryptedBytes: most }: OwnRuleFacts,
): Denial | undefined {
  if (utf8Length(value) <= most) return undefined;
  const reason = `the encrypted value is longer than limits.encrypted_value_bytes (${most})`;
  return ownDenial("gateway/encrypted-size", reason, policy.onBlock);
}

/** In observe mode a block of our own is a remark, like any other. */
export function observing(policy: CompiledPolicy, denial: Denial): Decision {
  return policy.mode === "observe" ? { allow: true, observed: denial } : denial;
}
