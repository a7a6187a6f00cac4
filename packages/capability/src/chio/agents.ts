import { encodeHex } from "@countersign/core";
import type { PublicKeyInput } from "../trust/public-key.js";
import { readPublicKey } from "../trust/public-key.js";

/** What only Chio tokens need to know. */
export type ChioOptions = {
  /**
   * The keys of each agent. A Chio token names its subject by key; with this table the subject must be
   * a key of the agent that presents it, and an agent that is not in the table has none. Without the
   * table the subject is not bound, as in Chio itself.
   */
  readonly agentKeys?: Readonly<Record<string, readonly PublicKeyInput[]>>;
};

/** Whether an agent may present a token made out to a key (hex). */
export type ChioAgents = (agent: string, subject: string) => boolean;

/** Reads the table once. */
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
