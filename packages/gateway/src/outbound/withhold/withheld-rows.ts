import { parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { StoredRow } from "../../store/keyed-store.js";
import type { Withheld } from "../../event/withheld-register.js";
import type { UnitKey } from "../../event/unit.js";

/**
 * The withheld units as rows of the thread's ledger.
 *
 * Each row names its owner. If a policy does not enforce thread owners, a block for one person must not withhold anything from another
 * person who names the same thread.
 */
export function withheldRows(
  owner: string,
  units: ReadonlyMap<UnitKey, Withheld>,
): readonly StoredRow[] {
  return [...units].map(([key, { rule, reason }]) => ({
    kind: "withheld",
    id: JSON.stringify([owner, key]),
    value: { rule, reason },
  }));
}

/** The units of one owner among a thread's rows. */
export function withheldOf(rows: readonly StoredRow[], owner: string): [UnitKey, Withheld][] {
  const units: [UnitKey, Withheld][] = [];
  for (const { kind, id, value } of rows) {
    if (kind !== "withheld") continue;
    const [whose, key] = parseJson(id) as [string, UnitKey];
    if (whose === owner) units.push([key, whyOf(value)]);
  }
  return units;
}

function whyOf({ rule, reason }: JsonObject): Withheld {
  return { rule: String(rule), reason: String(reason) };
}
