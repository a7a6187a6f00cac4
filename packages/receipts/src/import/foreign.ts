import type { JsonObject } from "@countersign/core";

/** A receipt of another protocol (MCP, A2A, ACP), stored beside ours. */
export type ForeignReceipt = {
  /** SHA-256 hex of the canonical JSON of the whole receipt, signature included. */
  readonly hash: string;
  /** The source protocol as the importer names it: `mcp`, `a2a`, `acp`. */
  readonly protocol: string;
  readonly id?: string;
  readonly session_id?: string;
  readonly agent_id?: string;
  /** Its own time in milliseconds, when it has one. */
  readonly at?: number;
  /**
   * The public key it is signed with, `ed25519:` and hex. The reader decides whether to trust it.
   */
  readonly signer: string;
  /** The receipt as received. */
  readonly receipt: JsonObject;
};

/** A filter for foreign receipts; at least one member. */
export type ForeignFilter = {
  readonly session_id?: string;
  readonly agent_id?: string;
  readonly protocol?: string;
  /** At most 1,000; default 100. */
  readonly limit?: number;
};
