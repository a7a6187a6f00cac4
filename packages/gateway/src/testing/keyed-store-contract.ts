import { describe, expect, test } from "vitest";
import type { StoredRow, KeyedStore } from "../store/keyed-store.js";

/** A clock that a test moves. */
export type MovedClock = { now(): number; time: number };

/** Creates the clock. */
export function createMovedClock(): MovedClock {
  const clock = { time: 1000, now: () => clock.time };
  return clock;
}

/** Claims one row; returns the existing one. */
export async function claimOne(
  store: KeyedStore,
  thread: string,
  row: StoredRow,
): Promise<StoredRow["value"] | undefined> {
  return (await store.claim([{ partition: thread, row }])).known[0];
}

/** The rows of a thread. */
export async function rowsOf(store: KeyedStore, thread: string): Promise<StoredRow[]> {
  return (await store.claim([], thread)).rows;
}

const row = (kind: StoredRow["kind"], id: string, value: object = {}): StoredRow => ({
  kind,
  id,
  value: value as StoredRow["value"],
});
const sorted = (rows: readonly StoredRow[]): StoredRow[] =>
  rows.toSorted((a, b) => `${a.kind} ${a.id}`.localeCompare(`${b.kind} ${b.id}`));

/**
 * The contract of every kind of storage. `open` is called twice with one name to read the same
 * rows.
 */
export function describeKeyedStoreContract(
  title: string,
  open: (name: string, clock: MovedClock) => Promise<KeyedStore>,
): void {
  describe(`${title} keeps the contract`, () => {
    test("an unknown thread has no rows", async () => {
      const store = await open("unknown", createMovedClock());
      expect(await rowsOf(store, "nowhere")).toEqual([]);
      await store.close();
    });

    test("a read returns the last written rows, for their thread alone", async () => {
      const store = await open("rows", createMovedClock());
      const odd = 'a"\u0000%00\n\u{1f600}';
      await store.write("t", [row("message", odd, { text: odd }), row("call", odd, { n: 1 })]);
      await store.write("t", [row("call", odd, { n: 2 })]);
      await store.write("other", [row("call", "x")]);
      expect(sorted(await rowsOf(store, "t"))).toEqual([
        row("call", odd, { n: 2 }),
        row("message", odd, { text: odd }),
      ]);
      await store.close();
    });

    test("a thread is read however long its rows are", async () => {
      const store = await open("long", createMovedClock());
      const long = row("message", "m", { text: "x".repeat(11 * 1024 * 1024) });
      await store.write("t", [long]);
      expect(await rowsOf(store, "t")).toEqual([long]);
      await store.close();
    });

    test("one write puts and removes rows atomically", async () => {
      const store = await open("together", createMovedClock());
      await store.write("t", [row("message", "a"), row("message", "b")]);
      await store.write("t", [row("order", "")], [{ kind: "message", id: "a" }]);
      expect(sorted(await rowsOf(store, "t"))).toEqual([row("message", "b"), row("order", "")]);
      await store.close();
    });

    test("of many claims of one key exactly one succeeds", async () => {
      const store = await open("claims", createMovedClock());
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => claimOne(store, "t", row("run", "r", { n }))),
      );
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
      const winner = answers.indexOf(undefined);
      for (const answer of answers) expect(answer ?? { n: winner }).toEqual({ n: winner });
      expect(await rowsOf(store, "t")).toEqual([]);
      await store.close();
    });

    test("a claim can be made again after its row is removed", async () => {
      const store = await open("released", createMovedClock());
      await claimOne(store, "t", row("run", "r"));
      await store.write("t", [], [{ kind: "run", id: "r" }]);
      expect(await claimOne(store, "t", row("run", "r"))).toBeUndefined();
      await store.close();
    });

    test("several claims get one response each, with the thread's rows from before", async () => {
      const store = await open("several", createMovedClock());
      const [before, mine, theirs] = [row("message", "a"), row("answer", "b"), row("answer", "c")];
      await store.write("t", [before]);
      await claimOne(store, "t", { ...theirs, value: { said: 1 } });
      const claims = [
        { partition: "t", row: mine },
        { partition: "t", row: theirs },
        { partition: "u", row: mine },
        { partition: "u", row: { ...mine, value: { said: 2 } } },
      ];
      const { known, rows } = await store.claim(claims, "t");
      expect(known).toEqual([undefined, { said: 1 }, undefined, {}]);
      expect(sorted(rows)).toEqual(sorted([before, { ...theirs, value: { said: 1 } }]));
      expect(sorted(await rowsOf(store, "t"))).toEqual(sorted([...rows, mine]));
      expect((await store.claim([], "t")).rows).toHaveLength(3);
      expect(await store.claim([])).toEqual({ known: [], rows: [] });
      await store.close();
    });

    test("a lookup finds the existing row and inserts nothing", async () => {
      const store = await open("question", createMovedClock());
      const ask = async (id: string): Promise<unknown> => {
        const claims = [{ partition: "t", row: row("thread", id), isLookup: true as const }];
        return (await store.claim([...claims, { partition: "u", row: row("run", id) }])).known;
      };
      expect(await ask("a")).toEqual([undefined, undefined]);
      expect(await ask("a")).toEqual([undefined, {}]);
      await store.write("t", [row("thread", "a", { owner: "x" })]);
      expect(await ask("a")).toEqual([{ owner: "x" }, {}]);
      expect(await rowsOf(store, "t")).toHaveLength(1);
      await store.close();
    });

    test("rows of a claim are written when every claim inserted its row, and otherwise not", async () => {
      const store = await open("then", createMovedClock());
      const claims = [{ partition: "t", row: row("thread", "", { owner: "a" }) }];
      const claim = async (runId: string): Promise<unknown> => {
        const all = [...claims, { partition: "u", row: row("run", runId) }];
        const rows = [row("message", runId, { n: 1 }), row("message", runId, { n: 2 })];
        return (await store.claim(all, undefined, { partition: "u", rows })).known;
      };
      expect(await claim("r1")).toEqual([undefined, undefined]);
      expect(await claim("r2")).toEqual([{ owner: "a" }, undefined]);
      expect(await rowsOf(store, "u")).toEqual([row("message", "r1", { n: 2 })]);
      await store.claim([], undefined, { partition: "u", rows: [row("call", "c")] });
      expect(await rowsOf(store, "u")).toHaveLength(2);
      await store.close();
    });

    test("threads without recent writes are removed whole, others are not", async () => {
      const clock = createMovedClock();
      const store = await open("forget", clock);
      await store.write("old", [row("message", "a")]);
      await claimOne(store, "old", row("run", "r"));
      clock.time = 2000;
      await store.write("young", [row("message", "b")]);
      clock.time = 1000;
      await store.write("young", []);
      expect(await store.forget(2000)).toBe(1);
      expect(await rowsOf(store, "old")).toEqual([]);
      expect(await claimOne(store, "old", row("run", "r"))).toBeUndefined();
      expect(await rowsOf(store, "young")).toEqual([row("message", "b")]);
      await store.close();
    });
  });
}
