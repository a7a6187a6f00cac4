import type { AgUiReceipt } from "../receipt/receipt.js";

/** Which way the event travelled: to the person or to the agent. */
export type Direction = "outbound" | "inbound";

/** Whether the decision was applied (`enforce`) or only written down (`observe`). */
export type PolicyMode = "enforce" | "observe";

/** One leaf of the log: a receipt and what the receipt itself does not say. Never a payload. */
export type LogEntry = {
  /** Position in the log, equal to the leaf index. */
  seq: number;
  receipt: AgUiReceipt;
  direction: Direction;
  run_id?: string;
  thread_id?: string;
  /** The hash that names the policy that decided, as the policy compiler writes it. */
  policy_hash: string;
  mode: PolicyMode;
  /** The rule that decided, when one did. */
  rule?: string;
  /** Other rules that would have decided the same, where all of them only noted it. */
  further_rules?: string[];
  /** The gateway's clock when the event arrived, milliseconds since the epoch. */
  received_at: number;
  /** Hash of what was delivered instead, when that differs from what was received. */
  emitted_hash?: string;
};

/** Rules that an entry names beside the first. */
export const MAX_FURTHER_RULES = 16;

/** An entry bundle frames entries with a 16-bit length (C2SP tlog-tiles). */
export const MAX_ENTRY_BYTES = 65_535;
