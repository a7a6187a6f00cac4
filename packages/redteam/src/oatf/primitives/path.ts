import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createBoundedCache } from "../json/bounded-cache.js";
import { MAX_MESSAGE_DEPTH } from "../limits.js";

const SIMPLE = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const WILDCARD = /^[A-Za-z0-9_-]+(?:\[\*\])?(?:\.[A-Za-z0-9_-]+(?:\[\*\])?)*$/;
const MAX_PATH_LENGTH = 1024;

/** Whether a text is a simple path; the empty one names the root. */
export function isSimplePath(path: string): boolean {
  return path === "" || (path.length <= MAX_PATH_LENGTH && SIMPLE.test(path));
}

/** Whether a text is a wildcard path; the empty one names the root. */
export function isWildcardPath(path: string): boolean {
  return path === "" || (path.length <= MAX_PATH_LENGTH && WILDCARD.test(path));
}

/** A value found by a wildcard path, with the path that led to it (`messages[2].content`). */
export type ResolvedNode = { readonly path: string; readonly value: JsonValue };

type Step = { readonly name: string; readonly each: boolean };
const parsed = createBoundedCache<readonly Step[]>(512);

function steps(path: string): readonly Step[] {
  return parsed.getOrCreate(path, (text) =>
    text === ""
      ? []
      : text.split(".").map((segment) => ({
          name: segment.endsWith("[*]") ? segment.slice(0, -3) : segment,
          each: segment.endsWith("[*]"),
        })),
  );
}

/**
 * The value at a simple path, `undefined` when there is none. Only own members of objects are walked: an
 * array, a scalar or a missing key on the way ends the search. A `null` that is there counts as found.
 */
export function resolveSimplePath(path: string, value: JsonValue): JsonValue | undefined {
  return isSimplePath(path) ? descend(steps(path), value) : undefined;
}

function descend(walk: readonly Step[], value: JsonValue): JsonValue | undefined {
  let current: JsonValue = value;
  for (const { name } of walk) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name] as JsonValue;
  }
  return current;
}

/** Every value at a wildcard path, in document order. */
export function resolveWildcardPath(path: string, value: JsonValue): JsonValue[] {
  return resolveWildcardNodes(path, value).map((node) => node.value);
}

/** Like {@link resolveWildcardPath}, with the place of each value. */
export function resolveWildcardNodes(path: string, value: JsonValue): ResolvedNode[] {
  return compileWildcardPath(path)(value);
}

/** The path as a function, for a caller that asks it of many messages. */
export function compileWildcardPath(path: string): (value: JsonValue) => ResolvedNode[] {
  if (!isWildcardPath(path)) return () => [];
  const walk = steps(path);
  if (walk.length > MAX_MESSAGE_DEPTH) return () => [];
  if (walk.some(({ each }) => each)) return (value) => expand(walk, value);
  return (value) => {
    const found = descend(walk, value);
    return found === undefined ? [] : [{ path, value: found }];
  };
}

function expand(walk: readonly Step[], value: JsonValue): ResolvedNode[] {
  let nodes: ResolvedNode[] = [{ path: "", value }];
  for (const { name, each } of walk) {
    const next: ResolvedNode[] = [];
    for (const node of nodes) {
      if (!isJsonObject(node.value) || !Object.hasOwn(node.value, name)) continue;
      const at = node.path === "" ? name : `${node.path}.${name}`;
      const found = node.value[name] as JsonValue;
      if (!each) next.push({ path: at, value: found });
      else if (Array.isArray(found)) {
        for (const [index, item] of found.entries()) {
          next.push({ path: `${at}[${index}]`, value: item });
        }
      }
    }
    nodes = next;
  }
  return nodes;
}
