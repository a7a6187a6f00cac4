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

function reviewState(
  { state }: RunAgentInput,
  settings: RequestSettings,
  written: readonly string[] | undefined,
): Finding[] {
  if (state === undefined) return [];
  const findings: Finding[] = [];
  const found = { check: "state", code: "ERR_STATE_REFUSED" } as const;
  const { maxBytes, allowsKey } = settings.state;
  if (sizeOf(state) > maxBytes) {
    const reason = `the state is larger than ${maxBytes} bytes`;
    const remedy = limitRemedy("state", "max_bytes");
    findings.push({ ...found, reason, at: pointerTo("state"), remedy });
  }
  const key = (written ?? keysOf(state)).find((one) => !allowsKey(one));
  if (key !== undefined) {
    const reason = "the state has a key that is not allowed and was not left with the client so";
    const remedy = `send it back as it came, or add to the policy under rules: ag_ui_request: { state: { keys: [${nameOf(key)}] } }`;
    findings.push({ ...found, reason, at: pointerTo("state", key), remedy });
  }
  return findings;
}

function reviewContext(
  { context = [] }: RunAgentInput,
  { context: settings }: RequestSettings,
): Finding[] {
  const found = {
    check: "context",
    code: "ERR_CONTEXT_REFUSED",
    at: pointerTo("context"),
  } as const;
  const { maxEntries, maxBytes, allowsDescription } = settings;
  if (context.length > maxEntries) {
    const reason = `the context has more than ${maxEntries} entries`;
    return [{ ...found, reason, remedy: limitRemedy("context", "max_entries") }];
  }
  if (context.length === 0) return [];
  const findings: Finding[] = [];
  if (sizeOf(context as unknown as JsonValue) > maxBytes) {
    const reason = `the context is larger than ${maxBytes} bytes`;
    findings.push({ ...found, reason, remedy: limitRemedy("context", "max_bytes") });
  }
  const index = context.findIndex(({ description }) => !allowsDescription(description));
  if (index !== -1) {
    findings.push({
      ...found,
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
  const found = { check: "forwarded_props", code: "ERR_FORWARDED_PROPS_REFUSED" } as const;
  const keys = isJsonObject(props) ? keysOf(props) : [""];
  const key = keys.find((one) => !allowsKey(one));
  if (key !== undefined) {
    const reason = "the forwarded properties have a key that is not allowed";
    const remedy = `add to the policy under rules: ag_ui_request: { forwarded_props: { allow: [${nameOf(key)}] } }`;
    return [{ ...found, reason, at: pointerTo("forwardedProps", key), remedy }];
  }
  if (sizeOf(props) <= maxBytes) return [];
  const reason = `the forwarded properties are larger than ${maxBytes} bytes`;
  const remedy = limitRemedy("forwarded_props", "max_bytes");
  return [{ ...found, reason, at: pointerTo("forwardedProps"), remedy }];
}

function limitRemedy(check: string, limit: string): string {
  return `send less, or set another limit in the policy under rules: ag_ui_request: { ${check}: { ${limit}: … } }`;
}

/** A key as a policy writes it. A key that may contain a person's words becomes a placeholder. */
function nameOf(key: string): string {
  return isPlainKey(key) ? key : "…";
}

function sizeOf(value: JsonValue): number {
  return Buffer.byteLength(canonicalJson(value));
}

/** The keys of an object, or the indexes of an array: no key list allows an index by accident. */
function keysOf(value: JsonValue): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
