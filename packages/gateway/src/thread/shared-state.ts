import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { digestOf, digestOfValue } from "./digest.js";

/** Top-level keys that are remembered one by one; of a larger state only the whole. */
export const MAX_KEYS = 64;
/** Digests of names and values in one row, over all states: those of the newest states come first. */
export const MAX_DIGESTS = 256;

/** The states that a client may hold: digests of each whole, and of each key's name and value. */
export type SharedState = {
  /** One, or several after a run that broke off, the newest last. */
  readonly digests: readonly string[];
  /** The newest first; each is a list of indexes into `table`: a name, its value, the next name, and so on. */
  readonly keyed?: readonly (readonly number[])[];
  readonly table?: readonly string[];
};

/** No state was delivered. */
export const NO_SHARED_STATE: SharedState = { digests: [] };

/** The client may hold a state that the gateway cannot compare. No digest equals this word. */
export const UNKNOWN_SHARED_STATE: SharedState = { digests: ["unknown"] };

/** The row content for states, the newest last. */
export function sharedStateOf(states: readonly JsonValue[]): SharedState {
  const digests: string[] = [];
  const keyed: number[][] = [];
  const places = new Map<string, number>();
  // A change keeps most of a state as the same objects.
  const known = new Map<JsonValue, string>();
  let isRoom = true;
  for (const state of states.toReversed()) {
    const digest = digestOfValue(state);
    if (digests.includes(digest)) continue;
    digests.unshift(digest);
    if (!isRoom || !isJsonObject(state) || Object.keys(state).length > MAX_KEYS) continue;
    const pairs = Object.entries(state).flatMap(([name, value]) => [
      digestOf([name]),
      digestOnce(value, known),
    ]);
    const added = new Set(pairs.filter((one) => !places.has(one)));
    isRoom = places.size + added.size <= MAX_DIGESTS;
    if (!isRoom) continue;
    for (const one of added) places.set(one, places.size);
    keyed.push(pairs.map((one) => places.get(one) as number));
  }
  return keyed.length === 0 ? { digests } : { digests, keyed, table: [...places.keys()] };
}

/**
 * The shared state of a client at the start of its run: the one it sent. Unknown if it sends none although an earlier
 * run left it one.
 */
export function stateAtStart(
  sent: JsonValue | undefined,
  { digests }: SharedState,
): JsonValue | undefined {
  if (!isEmptyState(sent)) return sent;
  return digests.length === 0 ? (sent ?? {}) : undefined;
}

/** Whether a client that sends this state sends none. */
export function isEmptyState(state: JsonValue | undefined): boolean {
  if (state === undefined || state === null) return true;
  return typeof state === "object" && Object.keys(state).length === 0;
}

/**
 * The top-level keys of a request's state whose values the client did not get from the gateway;
 * `undefined` when they cannot be determined, so that the whole state counts as new.
 *
 * The values under all other keys were delivered together at one moment: values of two moments
 * would make a state that never existed. A state that lacks a delivered key echoes none of the
 * others, because an agent may read the missing key as an answer.
 *
 * @param isOwn keys that the client may write anyway, to choose among several moments
 */
export function writtenKeys(
  state: JsonValue | undefined,
  { digests, keyed = [], table = [] }: SharedState,
  isOwn: (key: string) => boolean,
): readonly string[] | undefined {
  if (digests.length === 0 || state === undefined) return undefined;
  if (digests.includes(digestOfValue(state))) return [];
  // Bounds the hashing by the number of keys that a row can have.
  if (!isJsonObject(state) || Object.keys(state).length > 2 * MAX_KEYS || keyed.length === 0) {
    return undefined;
  }
  const sent = new Map(Object.keys(state).map((key) => [digestOf([key]), key]));
  const values = new Map<string, string>();
  const saysIt = (name: string, value: string): boolean => {
    const digest = values.get(name) ?? digestOfValue(state[sent.get(name) as string] as JsonValue);
    values.set(name, digest);
    return digest === value;
  };
  let best: readonly string[] | undefined;
  for (const pairs of keyed) {
    const written = new Map(sent);
    let isWhole = true;
    for (let at = 0; at < pairs.length && isWhole; at += 2) {
      const name = table[pairs[at] ?? -1] ?? "";
      isWhole = sent.has(name);
      if (isWhole && saysIt(name, table[pairs[at + 1] ?? -1] ?? "")) written.delete(name);
    }
    if (!isWhole || written.size === sent.size) continue;
    const keys = [...written.values()];
    if (best === undefined || isLess(keys, best, isOwn)) best = keys;
  }
  return best;
}

function isLess(
  keys: readonly string[],
  others: readonly string[],
  isOwn: (key: string) => boolean,
): boolean {
  const foreign = keys.filter((key) => !isOwn(key)).length;
  const otherForeign = others.filter((key) => !isOwn(key)).length;
  return foreign < otherForeign || (foreign === otherForeign && keys.length < others.length);
}

function digestOnce(value: JsonValue, known: Map<JsonValue, string>): string {
  const digest = known.get(value) ?? digestOfValue(value);
  known.set(value, digest);
  return digest;
}
