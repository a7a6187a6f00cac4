import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { RequestSettings } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { isStateEchoed } from "../ledger/run-state.js";
import type { ThreadState } from "../ledger/thread-state.js";
import type { Finding, FindingCode } from "./finding.js";

type Check = "state" | "context" | "forwarded_props";

/**
 * Holds what a request carries along (state, context, forwarded properties) against size and key lists.
 *
 * The list of a state's keys is about what a browser writes. Clients send back all they were left with, so what
 * the agent wrote and nobody changed is not held against it: a list would end every conversation with state.
 */
export function reviewCarried(
  input: RunAgentInput,
  thread: ThreadState,
  settings: RequestSettings,
): Finding[] {
  const findings: Finding[] = [];
  const find = (check: Check, code: FindingCode, reason: string): void =>
    void findings.push({ check, code, reason });
  const { state, context = [], forwardedProps: props } = input;
  if (state !== undefined) {
    if (sizeOf(state) > settings.state.maxBytes) {
      find("state", "ERR_STATE_REFUSED", "the state is too large");
    }
    const isListed = keysOf(state).every((key) => settings.state.allowsKey(key));
    if (!isListed && !isStateEchoed(input, thread)) {
      find("state", "ERR_STATE_REFUSED", "the state has a key that is not allowed");
    }
  }
  if (context.length > settings.context.maxEntries) {
    find("context", "ERR_CONTEXT_REFUSED", "the context has too many entries");
  } else if (context.length > 0) {
    if (sizeOf(context as unknown as JsonValue) > settings.context.maxBytes) {
      find("context", "ERR_CONTEXT_REFUSED", "the context is too large");
    }
    if (context.some(({ description }) => !settings.context.allowsDescription(description))) {
      find("context", "ERR_CONTEXT_REFUSED", "the context has an entry that is not allowed");
    }
  }
  if (props !== undefined) {
    const isAllowed = isContainer(props)
      ? keysOf(props).every((key) => settings.forwardedProps.allowsKey(key))
      : settings.forwardedProps.allowsKey("");
    if (!isAllowed) {
      const reason = "the forwarded properties have a key that is not allowed";
      find("forwarded_props", "ERR_FORWARDED_PROPS_REFUSED", reason);
    } else if (sizeOf(props) > settings.forwardedProps.maxBytes) {
      const reason = "the forwarded properties are too large";
      find("forwarded_props", "ERR_FORWARDED_PROPS_REFUSED", reason);
    }
  }
  return findings;
}

function sizeOf(value: JsonValue): number {
  return Buffer.byteLength(canonicalJson(value));
}

function isContainer(value: JsonValue): value is JsonValue & object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys at the top; of a list, the places, which no list of names allows by accident. */
function keysOf(value: JsonValue): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
