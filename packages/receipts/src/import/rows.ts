import type { JsonObject } from "@countersign/core";
import type { ForeignReceipt } from "./foreign.js";

/** A row of either store as a foreign receipt. */
export function foreignFromRow(row: Record<string, unknown>, receipt: JsonObject): ForeignReceipt {
  const text = (name: string): string | undefined =>
    row[name] === null || row[name] === undefined ? undefined : String(row[name]);
  const id = text("receipt_id");
  const session = text("session_id");
  const agent = text("agent_id");
  const at = text("at");
  return {
    hash: String(row["hash"]),
    protocol: String(row["protocol"]),
    ...(id === undefined ? {} : { id }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(at === undefined ? {} : { at: Number(at) }),
    signer: String(row["signer"]),
    receipt,
  };
}
