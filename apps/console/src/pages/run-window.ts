import type { Counts, Entries, Entry } from "../api/responses.js";
import { fetchJson } from "../api/request.js";

/** Receipts that are drawn at once. */
export const WINDOW = 2000;
const PAGE = 1000;

/** Which receipts of a run are looked at: from which end, and the cursors that led there. */
export type Place = { readonly from: "oldest" | "newest"; readonly cursors: readonly string[] };

/** Receipts of a run, the oldest first, and where they stand among all of them. */
export type RunWindow = {
  readonly entries: readonly Entry[];
  /** Leads further away from the end that was begun at. */
  readonly cursor: string | undefined;
  readonly total: number;
};

/** Reads one window. */
export async function readWindow(
  filter: string,
  place: Place,
  signal: AbortSignal,
): Promise<RunWindow> {
  // Together: a page that the operator leaves aborts both, and neither stays without a handler.
  const [{ counts }, { entries, cursor }] = await Promise.all([
    fetchJson<Counts>(`/v1/receipts/counts?by=direction&${filter}`, { signal }),
    readEntries(filter, place, signal),
  ]);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return { entries: place.from === "oldest" ? entries : entries.toReversed(), cursor, total };
}

async function readEntries(
  filter: string,
  { from, cursors }: Place,
  signal: AbortSignal,
): Promise<Pick<RunWindow, "cursor"> & { readonly entries: Entry[] }> {
  const entries: Entry[] = [];
  let cursor = cursors.at(-1);
  do {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Entries = await fetchJson(
      `/v1/receipts?${filter}&order=${from}&limit=${PAGE}${next}`,
      { signal },
    );
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== undefined && entries.length < WINDOW);
  return { entries, cursor };
}

/** The places that the windows before and behind have; nothing at an end. */
export function neighbours(
  { from, cursors }: Place,
  cursor: string | undefined,
): { readonly earlier: Place | undefined; readonly later: Place | undefined } {
  const onwards = cursor === undefined ? undefined : { from, cursors: [...cursors, cursor] };
  const back = cursors.length === 0 ? undefined : { from, cursors: cursors.slice(0, -1) };
  return from === "oldest" ? { earlier: back, later: onwards } : { earlier: onwards, later: back };
}

/** The numbers of the first and the last receipt of a window, counted from one. */
export function rangeOf(
  { from, cursors }: Place,
  { entries, total }: RunWindow,
): readonly [first: number, last: number] {
  const before = cursors.length * WINDOW;
  if (from === "oldest") return [before + 1, before + entries.length];
  return [Math.max(0, total - before - entries.length) + 1, total - before];
}
