import * as fc from "fast-check";
import { expect, test } from "vitest";
import { grantBudget, TokenBudgets } from "../quota/token-budgets.js";
import type { BudgetCount } from "../quota/token-budgets.js";
import type { CountRequest, CountStore, TotalLimit } from "../quota/count-store.js";
import { afterReserving } from "./admit.js";

/** One budget in a store that grants at most `most` events each time. */
function createStore(most: number): CountStore {
  let count: BudgetCount | undefined;
  return {
    exchange: async (asked) =>
      asked.map((request) => {
        const wanted = Math.min(most, request.wanted);
        const granted = grantBudget(count, { ...request, wanted } as CountRequest<TotalLimit>, "g");
        count = granted.count;
        return granted.result;
      }),
    sweep: async () => {},
    close: async () => {},
  };
}

test("requests that reserve at the same time together use the whole budget of a token, and no more", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 3 }),
      async (requests, maxEvents, most) => {
        const budgets = new TokenBudgets({ store: createStore(most), gateway: "g" });
        const allowance = { id: "cap", maxEvents, expiresAt: 2e9 };
        const allowed = await Promise.all(
          Array.from({ length: requests }, () =>
            afterReserving({ reserve: () => budgets.reserve([allowance], 1) }, () => {
              if (budgets.spent("cap") >= maxEvents) return false;
              budgets.count("cap");
              return true;
            }),
          ),
        );
        await budgets.close();
        expect(allowed.filter(Boolean)).toHaveLength(Math.min(requests, maxEvents));
      },
    ),
    { numRuns: 200 },
  );
});
