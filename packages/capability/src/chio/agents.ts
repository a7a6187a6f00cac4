import { encodeHex } from "@countersign/core";
import type { PublicKeyInput } from "../trust/public-key.js";
import { readPublicKey } from "../trust/public-key.js";

/** Options for Chio tokens only. */
export type ChioOptions = {
  /**
   * The keys of each agent. A Chio token names its subject by key. With this table the subject must
   * be a key of the presenting agent, and an agent outside the table has no keys. Without the table
   * the subject is not bound, as in Chio itself.
   */
  readonly agentKeys?: Readonly<Record<string, readonly PublicKeyInput[]>>;
};

/** Whether an agent may present a token issued to a key (hex). */
export type ChioAgents = (agent: string, subject: string) => boolean;

/** Parses the table once. */
export function createChioAgents({ agentKeys }: ChioOptions = {}): ChioAgents {
  if (agentKeys === undefined) return () => true;
  const table = new Map(
    Object.entries(agentKeys).map(([agent, keys]) => [
      agent,
      new Set(keys.map((key) => encodeHex(readPublicKey(key)))),
    ]),
  );
  return (agent, subject) => table.get(agent)?.has(subject) === true;
}
