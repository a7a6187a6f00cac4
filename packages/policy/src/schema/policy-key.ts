import type { JsonObject } from "@countersign/core";
import { POLICY_SCHEMA } from "./policy-schema.js";
import { findSchemaKey } from "./schema-key.js";
import type { SchemaKey } from "./schema-key.js";

/** Keys of a cap in Chio's notation, which cannot be mixed with the other one. */
const CHIO = /^velocity\.(?:max_\w+_per_\w+|max_requests_\w+|window_secs|burst_factor)$/u;

/** The grammar of a policy key, by its dotted path below `rules`. */
export function findPolicyKey(path: string): SchemaKey | undefined {
  const found = findSchemaKey(POLICY_SCHEMA, path.replace(/^rules\./u, ""));
  if (found === undefined || !/^velocity(?:\.|$)/u.test(path)) return found;
  // A cap without its numbers is invalid.
  const numbers = CHIO.test(path)
    ? { max_requests_per_session: 100 }
    : { max_invocations: 100, window_seconds: 60 };
  const { velocity } = found.example as { velocity: JsonObject };
  return { ...found, example: { velocity: { ...numbers, ...velocity } } };
}
