import {
  malformed,
  own,
  readClosed,
  readInteger,
  readList,
  readName,
  readObject,
} from "../reading/read.js";
import type { Lossless } from "./lossless.js";
import type { ChioConstraint, ChioGrant, ChioLink, ChioToken } from "./model.js";

const OPTIONAL = [
  "schema",
  "delegation_chain",
  "budget_share_bps",
  "max_total_cost",
  "aggregate_invocation_budget",
  "algorithm",
  "caveats",
  "scope_attenuations",
  "attenuation_proof",
];
const OPTIONAL_IN_GRANT = [
  "constraints",
  "max_invocations",
  "max_cost_per_invocation",
  "max_total_cost",
  "dpop_required",
];
const MAX_GRANTS = 256;
const MAX_CONSTRAINTS = 64;
const MAX_CHAIN = 16;
const MAX_U64 = 2n ** 64n - 1n;
const OPERATIONS = new Set(["invoke", "read_result", "read", "subscribe", "get", "delegate"]);

/**
 * Reads the closed object of a Chio token.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function readChioToken(value: Lossless): ChioToken {
  const token = readClosed<Lossless>(
    "token",
    value,
    ["id", "issuer", "subject", "scope", "issued_at", "expires_at", "signature"],
    OPTIONAL,
  );
  const schema = own(token, "schema");
  const algorithm = own(token, "algorithm");
  const share = own(token, "budget_share_bps");
  return {
    ...(schema === undefined ? {} : { schema: readName("schema", schema) }),
    ...(algorithm === undefined ? {} : { algorithm: readName("algorithm", algorithm) }),
    ...(share === undefined ? {} : { budgetShare: readInteger("budget_share_bps", share, 0) }),
    id: readName("id", own(token, "id")),
    issuer: readText("issuer", own(token, "issuer")),
    subject: readText("subject", own(token, "subject")),
    grants: readGrants(own(token, "scope")),
    issuedAt: readU64("issued_at", own(token, "issued_at")),
    expiresAt: readU64("expires_at", own(token, "expires_at")),
    chain: readMany("delegation_chain", own(token, "delegation_chain"), MAX_CHAIN, readLink),
    signature: readText("signature", own(token, "signature")),
    has: {
      caveats: isPresent(own(token, "caveats")),
      aggregate: isPresent(own(token, "aggregate_invocation_budget")),
      attenuation:
        isPresent(own(token, "attenuation_proof")) || isPresent(own(token, "scope_attenuations")),
    },
  };
}

function readGrants(value: Lossless | undefined): readonly ChioGrant[] {
  const scope = readClosed<Lossless>(
    "scope",
    value,
    [],
    ["grants", "resource_grants", "prompt_grants"],
  );
  // Resource and prompt grants do not apply to UI events; only their type is checked.
  readMany("scope.resource_grants", own(scope, "resource_grants"), MAX_GRANTS, readObject);
  readMany("scope.prompt_grants", own(scope, "prompt_grants"), MAX_GRANTS, readObject);
  return readMany("scope.grants", own(scope, "grants"), MAX_GRANTS, readGrant);
}

function readGrant(what: string, value: Lossless): ChioGrant {
  const grant = readClosed<Lossless>(
    what,
    value,
    ["server_id", "tool_name", "operations"],
    OPTIONAL_IN_GRANT,
  );
  const most = own(grant, "max_invocations");
  const possession = own(grant, "dpop_required");
  if (possession !== undefined && typeof possession !== "boolean") throw malformed(what);
  return {
    serverId: readName(what, own(grant, "server_id")),
    toolName: readName(what, own(grant, "tool_name")),
    operations: readMany(what, own(grant, "operations"), OPERATIONS.size, readOperation),
    constraints: readMany(what, own(grant, "constraints"), MAX_CONSTRAINTS, readConstraint),
    ...(most === undefined ? {} : { maxInvocations: readInteger(what, most, 0) }),
    needsPossession: possession === true,
  };
}

function readConstraint(what: string, value: Lossless): ChioConstraint {
  const constraint = readClosed<Lossless>(what, value, ["type"], ["value"]);
  const content = own(constraint, "value");
  const type = readName(what, own(constraint, "type"));
  return content === undefined ? { type } : { type, value: content };
}

function readLink(what: string, value: Lossless): ChioLink {
  const link = readClosed<Lossless>(
    what,
    value,
    ["capability_id", "delegator", "delegatee", "timestamp", "signature"],
    ["attenuations", "scope_hash", "aggregate_budget", "cumulative_approval", "child_binding"],
  );
  return {
    capabilityId: readName(what, own(link, "capability_id")),
    delegator: readText(what, own(link, "delegator")),
    delegatee: readText(what, own(link, "delegatee")),
    timestamp: readU64(what, own(link, "timestamp")),
    attenuations: readMany(what, own(link, "attenuations"), MAX_CONSTRAINTS, readObject<Lossless>),
    signature: readText(what, own(link, "signature")),
    has: {
      aggregate: isPresent(own(link, "aggregate_budget")),
      cumulative: isPresent(own(link, "cumulative_approval")),
      binding: isPresent(own(link, "child_binding")),
    },
  };
}

function readOperation(what: string, value: Lossless): string {
  if (typeof value !== "string" || !OPERATIONS.has(value)) throw malformed(what);
  return value;
}

function readMany<Item>(
  what: string,
  value: Lossless | undefined,
  most: number,
  read: (what: string, value: Lossless) => Item,
): readonly Item[] {
  return value === undefined
    ? []
    : readList<Lossless>(what, value, most).map((item) => read(what, item));
}

function readText(what: string, value: Lossless | undefined): string {
  if (typeof value !== "string") throw malformed(what);
  return value;
}

function readU64(what: string, value: Lossless | undefined): bigint {
  const number = typeof value === "bigint" ? value : BigInt(readInteger(what, value, 0));
  if (number < 0n || number > MAX_U64) throw malformed(what);
  return number;
}

/** Whether an optional member has a value; Chio omits empty lists. */
function isPresent(value: Lossless | undefined): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}
