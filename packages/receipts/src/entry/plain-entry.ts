import type { AgUiReceipt, ReceiptTarget } from "../receipt/receipt.js";
import type { LogEntry } from "./entry.js";
import { plainEntryPattern } from "./plain-grammar.js";

// One regular expression instead of parse, check and encode: 4 instead of 11 µs, where a signature
// takes 67.
const PARTS = new Set(["head", "receipt", "before"]);
const ENTRY = new RegExp(
  `^${plainEntryPattern((name, pattern) => (PARTS.has(name) ? pattern : `(${pattern})`))}$`,
);

/** The entry of a canonical text of plain ASCII; undefined when the general decoder must decide. */
export function matchPlainEntry(text: string): LogEntry | undefined {
  const match = ENTRY.exec(text);
  if (match === null) return undefined;
  // Groups in the order of the text; optional members may be undefined.
  const [, address, direction, emitted, mode, path, policy, principal] = match;
  const [agent, allowed, capability, classification, denial, event, type, custom] = match.slice(8);
  const [id, key, payload, session, signature, componentId, componentType] = match.slice(16);
  const [timestamp, transport, received, rule, run, seq, thread, tool] = match.slice(23);
  if ((allowed === "true") !== (denial === undefined)) return undefined;
  const target = { component_type: componentType } as ReceiptTarget;
  put(target, "component_id", componentId);
  const receipt = {
    agent_id: agent,
    allowed: allowed === "true",
    capability_id: capability,
    classification,
    event_id: event,
    event_type: type ?? { custom },
    id,
    kernel_key: key,
    payload_hash: payload,
    signature,
    timestamp: Number(timestamp),
    transport,
  } as AgUiReceipt;
  put(receipt, "denial_reason", denial);
  put(receipt, "session_id", session);
  if (componentType !== undefined) receipt.target = target;
  const entry = {
    direction,
    mode,
    policy_hash: policy,
    receipt,
    received_at: Number(received),
    seq: Number(seq),
  } as LogEntry;
  put(entry, "emitted_hash", emitted);
  put(entry, "rule", rule);
  put(entry, "run_id", run);
  put(entry, "thread_id", thread);
  put(entry, "principal", principal);
  put(entry, "client_address", address);
  put(entry, "tool", tool);
  put(entry, "path", path);
  return entry;
}

function put<Name extends string>(
  object: { [Member in Name]?: string },
  name: Name,
  value: string | undefined,
): void {
  if (value !== undefined) object[name] = value;
}
