import { canonicalJson, isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { RequestSettings } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { Finding } from "./finding.js";
import { isPlainKey, pointerTo } from "./finding.js";

/**
 * Checks the state, context and forwarded properties of a request against the policy's size limits and key lists.
 *
 * The list of state keys applies to the keys that the browser writes. Clients send the whole state back, so keys that the agent wrote and
 * the client did not change pass. Otherwise a list would end every conversation with state.
 *
 * @param written the keys of the state that the client changed; if absent, all of them
 */
export function reviewClientData(
  input: RunAgentInput,
  settings: RequestSettings,
  written?: readonly string[],
): Finding[] {
  return [
    ...reviewState(input, settings, written),
    ...reviewContext(input, settings),
    ...reviewProps(input, settings),
  ];
}

const FOUND = {
  state: { check: "state", code: "ERR_STATE_REFUSED", at: pointerTo("state") },
  context: { check: "context", code: "ERR_CONTEXT_REFUSED", at: pointerTo("context") },
  props: {
    check: "forwarded_props",
    code: "ERR_FORWARDED_PROPS_REFUSED",
    at: pointerTo("forwardedProps"),
  },
} as const;

function reviewState(
  { state }: RunAgentInput,
  { state: { maxBytes, allowsKey } }: RequestSettings,
  written: readonly string[] | undefined,
): Finding[] {
  if (state === undefined) return [];
  const findings = reviewSize(state, maxBytes, FOUND.state, "the state is");
  const key = (written ?? keysOf(state)).find((one) => !allowsKey(one));
  if (key !== undefined) {
    const reason = "the state has a key that is not allowed and was not left with the client so";
    const remedy = `send it back as it came, or add to the policy under rules: ag_ui_request: { state: { keys: [${nameOf(key)}] } }`;
    findings.push({ ...FOUND.state, reason, at: pointerTo("state", key), remedy });
  }
  return findings;
}

function reviewContext(
  { context = [] }: RunAgentInput,
  { context: { maxEntries, maxBytes, allowsDescription } }: RequestSettings,
): Finding[] {
  if (context.length > maxEntries) {
    const reason = `the context has more than ${maxEntries} entries`;
    return [{ ...FOUND.context, reason, remedy: limitRemedy("context", "max_entries") }];
  }
  if (context.length === 0) return [];
  const value = context as unknown as JsonValue;
  const findings = reviewSize(value, maxBytes, FOUND.context, "the context is");
  const index = context.findIndex(({ description }) => !allowsDescription(description));
  if (index !== -1) {
    findings.push({
      ...FOUND.context,
      reason: "the context has an entry whose description is not allowed",
      at: pointerTo("context", index, "description"),
      remedy:
        "add the description to the policy under rules: ag_ui_request: { context: { descriptions: […] } }",
    });
  }
  return findings;
}

function reviewProps(
  { forwardedProps: props }: RunAgentInput,
  { forwardedProps: { maxBytes, allowsKey } }: RequestSettings,
): Finding[] {
  if (props === undefined) return [];
  const keys = isJsonObject(props) ? keysOf(props) : [""];
  const key = keys.find((one) => !allowsKey(one));
  if (key === undefined)
    return reviewSize(props, maxBytes, FOUND.props, "the forwarded properties are");
  const reason = "the forwarded properties have a key that is not allowed";
  const remedy = `add to the policy under rules: ag_ui_request: { forwarded_props: { allow: [${nameOf(key)}] } }`;
  return [{ ...FOUND.props, reason, at: pointerTo("forwardedProps", key), remedy }];
}

function reviewSize(
  value: JsonValue,
  maxBytes: number,
  found: (typeof FOUND)[keyof typeof FOUND],
  subject: string,
): Finding[] {
  if (Buffer.byteLength(canonicalJson(value)) <= maxBytes) return [];
  const reason = `${subject} larger than ${maxBytes} bytes`;
  return [{ ...found, reason, remedy: limitRemedy(found.check, "max_bytes") }];
}

function limitRemedy(check: string, limit: string): string {
  return `send less, or set another limit in the policy under rules: ag_ui_request: { ${check}: { ${limit}: … } }`;
}

/** A key as a policy writes it. A key that may contain a person's words becomes a placeholder. */
function nameOf(key: string): string {
  return isPlainKey(key) ? key : "…";
}

/** The keys of an object, or the indexes of an array: no key list allows an index by accident. */
function keysOf(value: JsonValue): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
