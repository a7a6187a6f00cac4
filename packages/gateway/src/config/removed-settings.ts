import type { JsonValue } from "@countersign/core";
import { issueAt } from "@countersign/policy/yaml";

type Issue = ReturnType<typeof issueAt>;

/** Settings of earlier versions, and what to write instead. */
const REMOVED: readonly { readonly path: readonly string[]; readonly instead: string }[] = [
  {
    path: ["fleet"],
    instead:
      'fleet was removed: gateways no longer relay streams to each other. Write cluster: { redis: "redis://HOST:6379" } to resume streams at any gateway, or nothing to resume each at its own; close the port between the gateways',
  },
  {
    path: ["limits", "relays"],
    instead: "relays was removed. Write followed_streams",
  },
];

/** Finds settings of earlier versions: without this a schema could only say that it does not know them. */
export function findRemoved(
  document: JsonValue,
  positions: Parameters<typeof issueAt>[0],
): Issue[] {
  return REMOVED.filter(({ path }) => has(document, path)).map(({ path, instead }) =>
    issueAt(positions, `/${path.join("/")}`, "bad-value", instead),
  );
}

function has(document: JsonValue, path: readonly string[]): boolean {
  let value: JsonValue | undefined = document;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Record<string, JsonValue>)[name];
  }
  return true;
}
