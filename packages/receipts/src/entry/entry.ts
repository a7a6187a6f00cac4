import type { Direction, PolicyMode } from "@countersign/core";
import type { AgUiReceipt } from "../receipt/receipt.js";

export type { Direction, PolicyMode } from "@countersign/core";

/**
 * One leaf of the log: a receipt and the context that the receipt does not contain. Never a
 * payload.
 */
export type LogEntry = {
  /** Position in the log, equal to the leaf index. */
  seq: number;
  receipt: AgUiReceipt;
  direction: Direction;
  run_id?: string;
  thread_id?: string;
  /** The principal of the run or request, or its keyed hash `hmac:…`; absent for an anonymous one. */
  principal?: string;
  /** The address of the client as the gateway believes it, or its keyed hash `hmac:…`. */
  client_address?: string;
  /** The tool that the event is about: its call, arguments, result or approval. */
  tool?: string;
  /** JSON Pointer of the state or activity path that decided; names only, never a value. */
  path?: string;
  /** The hash of the policy that decided, as the policy compiler writes it. */
  policy_hash: string;
  mode: PolicyMode;
  /** The rule that decided, when one did. */
  rule?: string;
  /** Other rules that would block the event as well, in observe mode. */
  further_rules?: string[];
  /** The gateway's clock when the event arrived, milliseconds since the epoch. */
  received_at: number;
  /** Hash of the delivered event, when it differs from the received one. */
  emitted_hash?: string;
};

/** Maximum number of rules that an entry names after the first. */
export const MAX_FURTHER_RULES = 16;

/** An entry bundle frames entries with a 16-bit length (C2SP tlog-tiles). */
export const MAX_ENTRY_BYTES = 65_535;
