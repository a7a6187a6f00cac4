import type { JsonObject } from "@countersign/core";
import type { StoredRow, KeyedStore } from "../../store/keyed-store.js";
import type { Clock } from "../../base/ports.js";
import type { BudgetStore } from "./budget-store.js";

/** The ledger key of the rows; a thread's own key is a JSON array. */
export const BUDGETS = "budgets";

/** How long a row outlives its capability, in seconds: the clock may be corrected meanwhile. */
const KEEP_SECONDS = 86_400;

type Budget = { taken: number; opened: number; expiresAt: number };

/**
 * Opens the budgets of a gateway that does not share its ledger: all of them are in memory, and
 * written to the ledger before they count.
 *
 * A grant that cannot be written stays taken here, so that a full disk grants nothing twice.
 */
export async function openLedgerBudgets(
  ledger: Pick<KeyedStore, "claim" | "write">,
  clock: Clock,
): Promise<BudgetStore> {
  const { rows } = await ledger.claim([], BUDGETS);
  const budgets = new Map<string, Budget>();
  for (const { kind, id, value } of rows) {
    if (kind === "budget") budgets.set(id, value as unknown as Budget);
  }
  const before = Math.floor(clock.now() / 1000) - KEEP_SECONDS;
  const old = [...budgets].filter(([, { expiresAt }]) => expiresAt < before).map(([id]) => id);
  if (old.length > 0) {
    const names = old.map((id) => ({ kind: "budget", id }) as const);
    await ledger.write(BUDGETS, [], names);
    for (const id of old) budgets.delete(id);
  }
  return {
    take: async ({ id, maxEvents, wanted, opened, expiresAt }) => {
      const budget = budgets.get(id) ?? { taken: 0, opened: 0, expiresAt };
      budgets.set(id, budget);
      const given = Math.max(0, Math.min(wanted, maxEvents - budget.taken));
      budget.taken += given;
      budget.opened += opened;
      budget.expiresAt = Math.max(budget.expiresAt, expiresAt);
      const grant = { given, taken: budget.taken, opened: budget.opened };
      await ledger.write(BUDGETS, [rowOf(id, budget)]);
      return grant;
    },
    giveBack: async (returned) => {
      const changed: StoredRow[] = [];
      for (const { id, unused, opened } of returned) {
        const budget = budgets.get(id);
        if (budget === undefined) continue;
        budget.taken -= unused;
        budget.opened += opened;
        changed.push(rowOf(id, budget));
      }
      if (changed.length > 0) await ledger.write(BUDGETS, changed);
    },
    close: async () => {},
  };
}

function rowOf(id: string, budget: Budget): StoredRow {
  return { kind: "budget", id, value: { ...budget } as unknown as JsonObject };
}
