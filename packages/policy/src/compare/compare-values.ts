import type { PolicyChange } from "./change.js";
import type { Effect } from "./effect.js";
import { reverseOf } from "./effect.js";
import type { Covers } from "./covers.js";

/** Values of a setting, the loosest first. */
export function compareChoice<Value extends string>(
  setting: string,
  before: Value,
  after: Value,
  loosestFirst: readonly Value[],
): PolicyChange[] {
  if (before === after) return [];
  const stricter = loosestFirst.indexOf(after) > loosestFirst.indexOf(before);
  const effect = stricter ? "stricter" : "looser";
  return [{ setting, kind: "changed", effect, says: `${before} → ${after}` }];
}

/** A flag that restricts when set. */
export function compareFlag(setting: string, before: boolean, after: boolean): PolicyChange[] {
  return compareChoice(setting, String(before), String(after), ["false", "true"]);
}

/** An upper limit; infinity means none. */
export function compareLimit(setting: string, before: number, after: number): PolicyChange[] {
  if (before === after) return [];
  const effect = after > before ? "looser" : "stricter";
  return [{ setting, kind: "changed", effect, says: `${bound(before)} → ${bound(after)}` }];
}

/** A value without a stricter side: the caller states its effect. */
export function compareText(
  setting: string,
  before: string,
  after: string,
  effect: Effect,
): PolicyChange[] {
  if (before === after) return [];
  return [{ setting, kind: "changed", effect, says: `${before} → ${after}` }];
}

/** Names, or all names. */
export type Names = readonly string[] | "any";

/**
 * Two lists of names, with the effect of a longer one; names that another entry covers
 * add nothing.
 */
export function compareNames(
  setting: string,
  before: Names,
  after: Names,
  longer: Effect,
  covers: Covers,
): PolicyChange[] {
  if (before === "any" || after === "any") {
    if (before === after) return [];
    const isWider = after === "any";
    return [
      {
        setting,
        kind: isWider ? "widened" : "narrowed",
        effect: isWider ? longer : reverseOf(longer),
        says: `${listed(before)} → ${listed(after)}`,
      },
    ];
  }
  const added = uncovered(after, before, covers);
  const removed = uncovered(before, after, covers);
  return [
    ...(added.length === 0
      ? []
      : [{ setting, kind: "widened", effect: longer, says: `+ ${listed(added)}` } as const]),
    ...(removed.length === 0
      ? []
      : [
          {
            setting,
            kind: "narrowed",
            effect: reverseOf(longer),
            says: `− ${listed(removed)}`,
          } as const,
        ]),
  ];
}

function uncovered(names: readonly string[], by: readonly string[], covers: Covers): string[] {
  const known = new Set(by);
  return [...new Set(names)].filter(
    (name) => !known.has(name) && !by.some((other) => covers(other, name)),
  );
}

const SHOWN_NAMES = 12;

function listed(names: Names): string {
  if (names === "any") return "any";
  if (names.length === 0) return "none";
  const more = names.length - SHOWN_NAMES;
  return `${names.slice(0, SHOWN_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function bound(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "no limit" : String(value);
}
