import type { StoredRow, RowName } from "../store/keyed-store.js";
import type { TraceWrite } from "./pending-rows.js";
import { orderRow, stateOf } from "./thread-state.js";
import type { ThreadState } from "./thread-state.js";

/** The state of a thread for a run that repeats its earlier runs. */
export type ReplayedState = {
  /** An empty thread: the client of a replay holds nothing yet. */
  readonly state: ThreadState;
  /** The part of a write that the ledger does not have; what was delivered or accepted before stays as it is. */
  newOnly(write: TraceWrite | undefined): TraceWrite | undefined;
};

/**
 * Opens the state for a replay. A runtime replays what it stored, and the ledger has the digests of what was delivered: a replayed message that
 * differs is not a message that the client may repeat. Messages of a run without a listener are new to the ledger.
 */
export function replayedState(thread: ThreadState): ReplayedState {
  const { messages, calls, shown, interrupts, tools } = thread;
  const isNew = ({ kind, id }: RowName): boolean => {
    switch (kind) {
      case "message": {
        const record = messages.get(id);
        return record === undefined || record.open === true || record.cut === true;
      }
      case "calls": {
        const record = messages.get(id.slice(0, id.lastIndexOf("\n")));
        return record === undefined || record.open === true || record.cut === true;
      }
      case "call":
        return calls.get(id)?.arguments === undefined;
      case "shown":
        return !shown.has(id);
      case "interrupt":
        return !interrupts.has(id);
      default:
        return true;
    }
  };
  return {
    state: { ...stateOf([]), tools: new Set(tools) },
    newOnly: (write) => {
      if (write === undefined) return undefined;
      const rows = write.rows.flatMap((row) =>
        row.kind === "order" ? (mergedOrder(thread, row) ?? []) : isNew(row) ? row : [],
      );
      // A later run of the replay answers the question of an earlier one, at the client too.
      const removed = write.removed.filter((name) => name.kind === "interrupt" || isNew(name));
      return rows.length + removed.length === 0 ? undefined : { rows, removed };
    },
  };
}

/** The order of the ledger with each new id behind the one before it; `undefined` if there is no new id. */
function mergedOrder({ order, loose, own }: ThreadState, row: StoredRow): StoredRow | undefined {
  const { ids, loose: replayed = [] } = row.value as unknown as { ids: string[]; loose?: string[] };
  const known = new Set(order);
  if (ids.every((id) => known.has(id))) return undefined;
  const merged = [...order];
  let before = -1;
  for (const id of ids) {
    if (known.has(id)) before = merged.indexOf(id);
    else merged.splice((before += 1), 0, id);
  }
  const maybe = new Set([...loose, ...replayed.filter((id) => !known.has(id))]);
  const first = merged.findIndex((id) => !known.has(id));
  const mine = own && { ids: [...own.order], latest: own.latest };
  return orderRow({ ids: merged, latest: first }, mine, (id) => maybe.has(id));
}
