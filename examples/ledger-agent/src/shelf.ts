import { createSafeEvent } from "@countersign/projection";
import type { LedgerEvent, OwnerProjector } from "@countersign/projection";

/** The owner of the facts of this application. */
export const SHELF_OWNER = "@example/shelf";

/** One change of the stock. `supplier` stays private. */
export type StockChanged = { item: string; change: number; left: number; supplier: string };

const OPENING_STOCK = 12;

/** The stock of an item: the opening stock and every change in the ledger. */
export function stockOf(events: readonly LedgerEvent[], item: string): number {
  const changes = events.filter(({ factOwnerRef }) => factOwnerRef === SHELF_OWNER);
  return changes.reduce((left, { payload }) => {
    const changed = payload as StockChanged;
    return changed.item === item ? left + changed.change : left;
  }, OPENING_STOCK);
}

/** Projects the shelf: a card that is updated in place, and an event for listeners. */
export const shelfProjector: OwnerProjector = {
  factOwnerRef: SHELF_OWNER,
  frameTypes: ["CUSTOM", "ACTIVITY_SNAPSHOT"],
  projectSafeEvent(event) {
    const { item, change, left } = event.payload as StockChanged;
    return createSafeEvent(event, { item, change, left });
  },
  projectFrames({ safePayload }) {
    const { item, left } = safePayload as { item: string; left: number };
    return [
      { type: "CUSTOM", name: "example.shelf.changed", value: safePayload },
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: `${SHELF_OWNER}:${item}`,
        activityType: "stock",
        content: { item, left },
      },
    ];
  },
};
