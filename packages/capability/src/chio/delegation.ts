import type { ChioAttenuation, ChioGrant, ChioToken } from "./model.js";
import { customPair } from "./constraints.js";
import { own } from "../reading/read.js";

const BINDING = "capability rejected by chain binding";
const BUDGET = "capability rejected by sibling-sum budget";
const MAX_SHARE = 10_000;

/** Why the delegation of a token is invalid, apart from signatures. */
export function delegationFault(token: ChioToken): string | undefined {
  return unsupportedFault(token) ?? shapeFault(token) ?? budgetFault(token);
}

/**
 * Chio features that need state beyond one token, which we do not keep: rejected, never ignored.
 */
function unsupportedFault({ has, chain, grants }: ChioToken): string | undefined {
  if (has.caveats) return "token carries caveats";
  if (has.aggregate || chain.some((link) => link.has.aggregate)) {
    return "aggregate invocation enforcement is unavailable";
  }
  const cumulates = ({ constraints }: ChioGrant): boolean =>
    constraints.some(({ type }) => type === "require_cumulative_approval_above");
  if (chain.some((link) => link.has.cumulative) || grants.some(cumulates)) {
    return "cumulative approval enforcement is unavailable";
  }
  return has.attenuation || chain.some((link) => link.has.binding) ? BINDING : undefined;
}

function shapeFault(token: ChioToken): string | undefined {
  const { chain, subject, id } = token;
  for (const [index, link] of chain.entries()) {
    const next = chain[index + 1];
    if (link.delegatee !== (next?.delegator ?? subject)) return `${BINDING}: chain is broken`;
    if (next !== undefined && next.timestamp < link.timestamp) return `${BINDING}: time runs back`;
    if (link.capabilityId === id) return `${BINDING}: token is its own ancestor`;
    if (!link.attenuations.every((step) => respects(token, step)))
      return `${BINDING}: token widens`;
  }
  return undefined;
}

function budgetFault({ id, chain, budgetShare }: ChioToken): string | undefined {
  if (budgetShare === undefined) return undefined;
  if (budgetShare > MAX_SHARE) {
    return `${BUDGET}: child ${id} share ${budgetShare} bps exceeds the ${MAX_SHARE} bps per-token cap`;
  }
  const parent = chain.at(-1);
  return parent === undefined
    ? undefined
    : `${BUDGET}: parent capability ${parent.capabilityId} is not registered`;
}

/**
 * Whether the token respects one attenuation of its chain. An unknown attenuation is not respected.
 */
function respects({ grants, expiresAt }: ChioToken, step: ChioAttenuation): boolean {
  const about = grants.filter(
    ({ serverId, toolName }) =>
      [own(step, "server_id"), "*"].includes(serverId) &&
      [own(step, "tool_name"), "*"].includes(toolName),
  );
  switch (own(step, "type")) {
    case "remove_tool":
      return about.length === 0;
    case "remove_operation":
      return about.every(({ operations }) => !operations.includes(String(own(step, "operation"))));
    case "add_constraint":
      return about.every((grant) => hasConstraint(grant, own(step, "constraint")));
    case "reduce_budget":
      return about.every(
        ({ maxInvocations = Infinity }) => maxInvocations <= Number(own(step, "max_invocations")),
      );
    case "shorten_expiry": {
      const most = own(step, "new_expires_at");
      return (typeof most === "number" || typeof most === "bigint") && expiresAt <= most;
    }
    case "reduce_cost_per_invocation":
    case "reduce_total_cost":
      // UI events cost nothing, so every cost limit is respected.
      return true;
    default:
      return false;
  }
}

function hasConstraint({ constraints }: ChioGrant, wanted: unknown): boolean {
  if (wanted === null || typeof wanted !== "object") return false;
  const text = comparable(wanted);
  return constraints.some((constraint) => comparable(constraint) === text);
}

function comparable(constraint: object): string {
  const { type, value } = constraint as { type?: unknown; value?: unknown };
  const pair = customPair({ type: String(type), value: (value ?? null) as never });
  return JSON.stringify([type, pair ?? value], (_key, part: unknown) =>
    typeof part === "bigint" ? `${part}n` : part,
  );
}
