import type { JsonObject } from "@countersign/core";

/** A receipt of another protocol (MCP, A2A, ACP) kept beside ours. */
export type ForeignReceipt = {
  /** SHA-256 hex of the canonical JSON of the whole receipt, signature included. */
  readonly hash: string;
  /** Where it comes from, as the importer names it: `mcp`, `a2a`, `acp`. */
  readonly protocol: string;
  readonly id?: string;
  readonly session_id?: string;
  readonly agent_id?: string;
  /** Its own time in milliseconds, when it has one. */
  readonly at?: number;
  /** The public key it is signed with, `ed25519:` and hex. Whether to trust it is the reader's question. */
  readonly signer: string;
  /** The receipt as it came. */
  readonly receipt: JsonObject;
};

/** Which foreign receipts are meant; at least one member. */
export type ForeignFilter = {
  readonly session_id?: string;
  readonly agent_id?: string;
  readonly protocol?: string;
  /** At most 1,000; 100 when left out. */
  readonly limit?: number;
};
