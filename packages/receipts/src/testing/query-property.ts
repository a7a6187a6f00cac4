import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { HashedDraft } from "../entry/draft.js";
import type { LogEntry } from "../entry/entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import type { CountRow, EntryColumn, EntryFilter } from "../query/query.js";
import { sortCounts } from "../spans/sort-counts.js";
import type { ReceiptStore } from "../store/store.js";
import { logOver } from "./contract-log.js";
import { draftOf } from "./drafts.js";

const START = 1_744_993_928_000;

type Column = string | boolean | null;

function valueOf(entry: LogEntry, column: EntryColumn): Column {
  return columnValues(entry)[ENTRY_COLUMNS.indexOf(column)] ?? null;
}

function isMatch(entry: LogEntry, filter: EntryFilter): boolean {
  return Object.entries(filter).every(([member, value]) => {
    if (member === "since") return entry.received_at >= Number(value);
    if (member === "until") return entry.received_at < Number(value);
    if (member === "id") return entry.receipt.id === value;
    if (member === "would_block") {
      return value === (entry.receipt.allowed && entry.rule !== undefined);
    }
    if (member === "q") {
      const part = String(value).toLowerCase();
      const texts = [entry.receipt.id, ...columnValues(entry)];
      return texts.some((one) => typeof one === "string" && one.toLowerCase().includes(part));
    }
    const own = valueOf(entry, member as EntryColumn);
    return [value].flat().some((one) => one === own);
  });
}

function countByHand(
  entries: readonly LogEntry[],
  by: readonly EntryColumn[],
  bucket: number | undefined,
): CountRow[] {
  const rows = new Map<string, CountRow>();
  for (const entry of entries) {
    const group = by.map((column) => valueOf(entry, column));
    const from = bucket === undefined ? 0 : entry.received_at - (entry.received_at % bucket);
    const key = JSON.stringify([from, group]);
    const count = 1 + (rows.get(key)?.count ?? 0);
    rows.set(key, bucket === undefined ? { count, group } : { count, from, group });
  }
  if (by.length === 0 && bucket === undefined && rows.size === 0) return [{ count: 0, group: [] }];
  return sortCounts([...rows.values()]);
}

/** Ids as the gateway makes them, as agents make them, and odd ones. */
function idOf(kind: number, number: number): string {
  if (kind === 0)
    return `evt_01JC${String(START + number).slice(-9)}${String(number).padStart(13, "0")}`;
  if (kind === 1) return `event-${number}`;
  if (kind === 2) return `"quoted\\ ${number}" \u{1F642}`;
  return `0f8fad5b-d9cb-469f-a165-7086${String(number).padStart(8, "0")}`;
}

const step = fc.record({
  run: fc.nat(5),
  // Deltas of one answer, or single events between them.
  length: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 40 })),
  type: fc.constantFrom("text_stream", "form_action", "lifecycle"),
  allowed: fc.integer({ min: 0, max: 5 }).map((one) => one > 0),
  rule: fc.constantFrom(undefined, "rules.a", "Rules.B"),
  target: fc.constantFrom(undefined, "t1", "t2"),
  ids: fc.nat(3),
  milliseconds: fc.constantFrom(0, 0, 1, 7, 900),
});
const stream = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  /** Runs that take turns, entry by entry. */
  together: fc.integer({ min: 1, max: 6 }),
  cuts: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
});
type Stream = typeof stream extends fc.Arbitrary<infer Value> ? Value : never;

function draftsOf({ steps, together }: Stream): HashedDraft[] {
  const drafts: HashedDraft[] = [];
  let time = START;
  for (let at = 0; at < steps.length; at += together) {
    const lanes = steps.slice(at, at + together);
    const longest = Math.max(...lanes.map(({ length }) => length));
    for (let place = 0; place < longest; place += 1) {
      for (const lane of lanes.filter(({ length }) => place < length)) {
        // Clocks of several gateways differ: times go back sometimes.
        time += lane.milliseconds - (drafts.length % 17 === 0 ? 5 : 0);
        const base = draftOf(0);
        const { target: _target, denial_reason: _reason, ...receipt } = base.receipt;
        const { rule: _rule, ...rest } = base;
        drafts.push({
          ...rest,
          received_at: time,
          run_id: `run_${lane.run}`,
          ...(lane.rule === undefined ? {} : { rule: lane.rule }),
          receipt: {
            ...receipt,
            allowed: lane.allowed,
            ...(lane.allowed ? {} : { denial_reason: "a rule" }),
            event_id: idOf(lane.ids, drafts.length),
            event_type: lane.type as "text_stream",
            session_id: `sess_${lane.run % 3}`,
            ...(lane.target === undefined
              ? {}
              : { target: { component_type: "chat", component_id: lane.target } }),
          },
        });
      }
    }
  }
  return drafts;
}

const time = fc.integer({ min: START - 20, max: START + 40_000 });
const filterOf = fc.record(
  {
    run_id: fc.subarray(["run_0", "run_1", "run_2", "never"], { minLength: 1 }),
    session_id: fc.constantFrom("sess_0", "sess_1"),
    event_type: fc.constantFrom("text_stream", "lifecycle"),
    allowed: fc.boolean(),
    would_block: fc.boolean(),
    rule: fc.constantFrom("rules.a", "Rules.B"),
    target_id: fc.constantFrom("t1", "t2"),
    since: time,
    until: time,
    q: fc.constantFrom(
      "RULES.",
      "evt_01jc",
      "event-1",
      '"quoted\\',
      "ED\\ 2",
      "7086",
      "t2",
      "\u{1F642}",
    ),
    id: fc.tuple(fc.nat(3), fc.nat(60)).map(([kind, number]) => `agui-${idOf(kind, number)}`),
  },
  { requiredKeys: [] },
);
const request = fc.record({
  filter: filterOf,
  by: fc.subarray<EntryColumn>(["run_id", "event_type", "allowed", "rule", "target_id"], {
    maxLength: 3,
  }),
  bucket: fc.constantFrom(undefined, 1, 50, 1_000, 60_000),
  limit: fc.constantFrom(1, 2, 7, 50, 1_000),
});

type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

async function checkQueries(
  store: ReceiptStore,
  drafts: readonly HashedDraft[],
  cuts: readonly number[],
  asked: readonly Request[],
): Promise<void> {
  const log = await logOver(store);
  for (let at = 0, turn = 0; at < drafts.length; turn += 1) {
    const count = cuts[turn % cuts.length] ?? 1;
    await log.appendAll(drafts.slice(at, at + count));
    at += count;
  }
  const all: LogEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = {
      order: "oldest",
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    } as const;
    const found = await store.query({}, page);
    all.push(...found.entries);
    ({ cursor } = found);
  } while (cursor !== undefined);
  expect(all.map((entry) => entry.receipt.event_id)).toEqual(
    drafts.map((draft) => draft.receipt.event_id),
  );
  for (const { filter: members, by, bucket, limit } of asked) {
    const filter = members as EntryFilter;
    const wanted = all.filter((entry) => isMatch(entry, filter));
    for (const order of ["oldest", "newest"] as const) {
      const seqs: number[] = [];
      let next: string | undefined;
      // Small pages of large results would take most of the time.
      do {
        const page = { order, limit, ...(next !== undefined && { cursor: next }) };
        const found = await store.query(filter, page);
        seqs.push(...found.entries.map(({ seq }) => seq));
        next = found.cursor;
      } while (next !== undefined && seqs.length < 8 * limit);
      const expected = (order === "oldest" ? wanted : wanted.toReversed()).map(({ seq }) => seq);
      expect(seqs).toEqual(next === undefined ? expected : expected.slice(0, seqs.length));
      expect(next === undefined || seqs.length < expected.length).toBe(true);
    }
    const counts = await store.count({ filter, by, ...(bucket !== undefined && { bucket }) });
    expect(counts).toEqual(countByHand(wanted, by, bucket));
    const some = await store.count({ filter, by, limit, ...(bucket !== undefined && { bucket }) });
    expect(some).toEqual(counts.slice(0, limit));
  }
}

/**
 * Random streams of entries with interleaved runs and random flushes: every query gives what a
 * filter over all entries gives.
 */
export function testQueryProperty(
  open: (log: string) => Promise<ReceiptStore>,
  numRuns: number,
): void {
  test("random streams in random flushes: each query finds what a filter over all entries finds", async () => {
    let round = 0;
    const requests = fc.array(request, { minLength: 12, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(stream, requests, async (value, asked) => {
        const store = await open(`property-${round++}`);
        try {
          await checkQueries(store, draftsOf(value), value.cuts, asked);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
    expect(round).toBeGreaterThanOrEqual(numRuns);
  }, 120_000);
}
