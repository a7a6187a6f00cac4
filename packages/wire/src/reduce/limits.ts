import { assertPositiveInteger, CountersignError, DEFAULT_LIMITS } from "@countersign/core";
import type { ErrorFacts } from "@countersign/core";
import { DEFAULT_PATCH_LIMITS } from "./json-patch.js";
import type { PatchLimits } from "./json-patch.js";

/** Bounds of a reducer. */
export type ReduceLimits = PatchLimits & {
  /** Messages of the conversation. Default 10,000. */
  maxMessages: number;
  /** Characters of text, arguments, results, activity content and metadata held. Default 64 Mi. */
  maxCharacters: number;
  /** Keys of one merged metadata object: a merge costs as much as it has keys. Default 1,000. */
  maxMetadataKeys: number;
  /** Tool calls, and steps or subagents of one run. Default 20,000. */
  maxUnits: number;
};

const DEFAULT_REDUCE_LIMITS: ReduceLimits = {
  ...DEFAULT_PATCH_LIMITS,
  maxMessages: DEFAULT_LIMITS.maxMessages,
  maxCharacters: 64 * 1024 * 1024,
  maxMetadataKeys: 1000,
  maxUnits: 20_000,
};

/**
 * Fills missing limits from the defaults; a limit that is not a positive integer is a TypeError.
 */
export function resolveReduceLimits(limits: Partial<ReduceLimits> = {}): ReduceLimits {
  const resolved = { ...DEFAULT_REDUCE_LIMITS, ...limits };
  for (const [name, value] of Object.entries(resolved)) assertPositiveInteger(name, value);
  return resolved;
}

/** Throws `ERR_REDUCE_TOO_LARGE` when an amount is over its limit. */
export function requireWithin(
  limit: ErrorFacts["ERR_REDUCE_TOO_LARGE"]["limit"],
  amount: number,
  limits: ReduceLimits,
): void {
  if (amount <= limits[limit]) return;
  throw new CountersignError("ERR_REDUCE_TOO_LARGE", `the conversation exceeds ${limit}`, {
    limit,
    allowed: limits[limit],
  });
}
