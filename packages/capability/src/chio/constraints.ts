import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, utf8Length } from "@countersign/core";
import type { Lossless } from "./lossless.js";
import type { ChioConstraint } from "./model.js";
import {
  hostOf,
  hostsWithin,
  isPathLike,
  matchesDomain,
  startsWithPath,
} from "./hosts-and-paths.js";

/** Members of the arguments that the gateway sets; a constraint on one never reads the payload. */
export const GATEWAY_ARGUMENTS: ReadonlySet<string> = new Set([
  "event_id",
  "agent_id",
  "event_classification",
  "session_id",
  "principal_id",
  "target_component_type",
  "target_component_id",
]);

type Check = (value: Lossless | undefined, args: JsonObject) => boolean;

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [
    "path_prefix",
    (value, args) => isText(value) && paths(args).every((p) => startsWithPath(p, value)),
  ],
  [
    "domain_exact",
    (value, args) => isText(value) && allHostsPass(args, (h) => h === value.toLowerCase()),
  ],
  [
    "domain_glob",
    (value, args) => isText(value) && allHostsPass(args, (h) => matchesDomain(h, value)),
  ],
  [
    "max_length",
    (value, args) => isCount(value) && texts(args).every((t) => utf8Length(t) <= value),
  ],
  ["max_args_size", (value, args) => isCount(value) && utf8Length(canonicalJson(args)) <= value],
  ["custom", custom],
  [
    "audience_allowlist",
    allowlist(["recipient", "recipients", "audience", "to", "channel", "channels"]),
  ],
  ["memory_store_allowlist", allowlist(["store", "memory_store", "collection", "namespace"])],
]);

/** Whether a constraint can be evaluated; an unknown one denies. */
export function isEvaluable({ type }: ChioConstraint): boolean {
  return CHECKS.has(type);
}

/** Whether a constraint is satisfied by the arguments of an event. */
export function holds({ type, value }: ChioConstraint, args: JsonObject): boolean {
  return CHECKS.get(type)?.(value, args) === true;
}

/** The key and value of a `custom` constraint. */
export function customPair({ type, value }: ChioConstraint): readonly [string, string] | undefined {
  if (type !== "custom" || !Array.isArray(value) || value.length !== 2) return undefined;
  const [key, expected] = value as readonly Lossless[];
  return isText(key) && isText(expected) ? [key, expected] : undefined;
}

function custom(value: Lossless | undefined, args: JsonObject): boolean {
  const pair = customPair({ type: "custom", value: value ?? null });
  if (pair === undefined) return false;
  const [key, expected] = pair;
  // Chio searches the whole tree; a payload with a member of the same name must not count.
  if (GATEWAY_ARGUMENTS.has(key)) return Object.hasOwn(args, key) && args[key] === expected;
  // Beside a member with the expected value, an agent could send another one that its client reads.
  const named = [...members(args)].filter(([name]) => name === key);
  return allOfSome(named, ([, member]) => member === expected);
}

function allowlist(keys: readonly string[]): Check {
  return (value, args) => {
    if (!Array.isArray(value)) return false;
    const allowed = new Set<unknown>(value);
    const named = [...members(args)].filter(([name]) => keys.includes(name));
    return allOfSome(
      named.flatMap(([, member]) => [...leaves(member)]),
      (leaf) => allowed.has(leaf),
    );
  };
}

function isText(value: Lossless | undefined): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: Lossless | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

/** All of them, and at least one: an allowlist does not allow an empty list. */
function allOfSome<Item>(items: readonly Item[], test: (item: Item) => boolean): boolean {
  return items.length > 0 && items.every(test);
}

function texts(args: JsonObject): string[] {
  return [...leaves(args)].filter((leaf) => typeof leaf === "string");
}

function paths(args: JsonObject): string[] {
  return texts(args).filter(isPathLike);
}

/**
 * Whether the arguments contain an address, and every address, alone or inside a text, passes the
 * test.
 */
function allHostsPass(args: JsonObject, test: (host: string) => boolean): boolean {
  const all = texts(args);
  return (
    allOfSome(
      all.flatMap((text) => hostOf(text) ?? []),
      test,
    ) && all.every((text) => hostsWithin(text).every(test))
  );
}

function* leaves(value: JsonValue): Generator<JsonValue> {
  if (value === null || typeof value !== "object") yield value;
  else for (const part of Object.values(value)) yield* leaves(part);
}

function* members(value: JsonValue): Generator<[string, JsonValue]> {
  if (value === null || typeof value !== "object") return;
  const isList = Array.isArray(value);
  for (const [name, part] of Object.entries(value)) {
    if (!isList) yield [name, part as JsonValue];
    yield* members(part as JsonValue);
  }
}
