import { OPERATOR_AGENT } from "@countersign/policy";
import type { Upstream } from "./upstream.js";

/** The agents of a gateway by name; only the configuration adds one. */
export type Agents = {
  find(name: string): Upstream | undefined;
  /** The agent for paths without a name. */
  readonly fallback: Upstream;
  readonly names: readonly string[];
};

/** Creates the table of agents; the first is the fallback unless another is named. */
export function createAgents(upstreams: readonly Upstream[], fallback?: string): Agents {
  const byName = new Map(upstreams.map((upstream) => [upstream.target.name, upstream]));
  if (byName.has(OPERATOR_AGENT)) throw new TypeError(`no agent can be named ${OPERATOR_AGENT}`);
  const chosen = fallback === undefined ? upstreams[0] : byName.get(fallback);
  if (chosen === undefined) {
    throw new TypeError(
      fallback === undefined ? "no agent is configured" : `no agent is named ${fallback}`,
    );
  }
  return { find: (name) => byName.get(name), fallback: chosen, names: [...byName.keys()] };
}
