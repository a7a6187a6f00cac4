import { describe, expect, test } from "vitest";
import type { LedgerRow, ThreadLedger } from "../thread/ledger.js";

/** A clock that a test moves. */
export type MovedClock = { now(): number; time: number };

/** Creates the clock. */
export function createMovedClock(): MovedClock {
  const clock = { time: 1000, now: () => clock.time };
  return clock;
}

/** Claims one row; returns the existing one. */
export async function claimOne(
  ledger: ThreadLedger,
  thread: string,
  row: LedgerRow,
): Promise<LedgerRow["value"] | undefined> {
  return (await ledger.claim([{ thread, row }])).known[0];
}

/** The rows of a thread. */
export async function rowsOf(ledger: ThreadLedger, thread: string): Promise<LedgerRow[]> {
  return (await ledger.claim([], thread)).rows;
}

const row = (kind: LedgerRow["kind"], id: string, value: object = {}): LedgerRow => ({
  kind,
  id,
  value: value as LedgerRow["value"],
});
const sorted = (rows: readonly LedgerRow[]): LedgerRow[] =>
  rows.toSorted((a, b) => `${a.kind} ${a.id}`.localeCompare(`${b.kind} ${b.id}`));

/**
 * The contract of every kind of storage. `open` is called twice with one name to read the same
 * rows.
 */
export function describeLedgerContract(
  title: string,
  open: (name: string, clock: MovedClock) => Promise<ThreadLedger>,
): void {
  describe(`${title} keeps the contract`, () => {
    test("an unknown thread has no rows", async () => {
      const ledger = await open("unknown", createMovedClock());
      expect(await rowsOf(ledger, "nowhere")).toEqual([]);
      await ledger.close();
    });

    test("a read returns the last written rows, for their thread alone", async () => {
      const ledger = await open("rows", createMovedClock());
      const odd = 'a"\u0000%00\n\u{1f600}';
      await ledger.write("t", [row("message", odd, { text: odd }), row("call", odd, { n: 1 })]);
      await ledger.write("t", [row("call", odd, { n: 2 })]);
      await ledger.write("other", [row("call", "x")]);
      expect(sorted(await rowsOf(ledger, "t"))).toEqual([
        row("call", odd, { n: 2 }),
        row("message", odd, { text: odd }),
      ]);
      await ledger.close();
    });

    test("a thread is read however long its rows are", async () => {
      const ledger = await open("long", createMovedClock());
      const long = row("message", "m", { text: "x".repeat(11 * 1024 * 1024) });
      await ledger.write("t", [long]);
      expect(await rowsOf(ledger, "t")).toEqual([long]);
      await ledger.close();
    });

    test("one write puts and removes rows atomically", async () => {
      const ledger = await open("together", createMovedClock());
      await ledger.write("t", [row("message", "a"), row("message", "b")]);
      await ledger.write("t", [row("order", "")], [{ kind: "message", id: "a" }]);
      expect(sorted(await rowsOf(ledger, "t"))).toEqual([row("message", "b"), row("order", "")]);
      await ledger.close();
    });

    test("of many claims of one key exactly one succeeds", async () => {
      const ledger = await open("claims", createMovedClock());
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => claimOne(ledger, "t", row("run", "r", { n }))),
      );
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
      const winner = answers.indexOf(undefined);
      for (const answer of answers) expect(answer ?? { n: winner }).toEqual({ n: winner });
      expect(await rowsOf(ledger, "t")).toEqual([]);
      await ledger.close();
    });

    test("a claim can be made again after its row is removed", async () => {
      const ledger = await open("released", createMovedClock());
      await claimOne(ledger, "t", row("run", "r"));
      await ledger.write("t", [], [{ kind: "run", id: "r" }]);
      expect(await claimOne(ledger, "t", row("run", "r"))).toBeUndefined();
      await ledger.close();
    });

    test("several claims get one response each, with the thread's rows from before", async () => {
      const ledger = await open("several", createMovedClock());
      const [before, mine, theirs] = [row("message", "a"), row("answer", "b"), row("answer", "c")];
      await ledger.write("t", [before]);
      await claimOne(ledger, "t", { ...theirs, value: { said: 1 } });
      const claims = [
        { thread: "t", row: mine },
        { thread: "t", row: theirs },
        { thread: "u", row: mine },
        { thread: "u", row: { ...mine, value: { said: 2 } } },
      ];
      const { known, rows } = await ledger.claim(claims, "t");
      expect(known).toEqual([undefined, { said: 1 }, undefined, {}]);
      expect(sorted(rows)).toEqual(sorted([before, { ...theirs, value: { said: 1 } }]));
      expect(sorted(await rowsOf(ledger, "t"))).toEqual(sorted([...rows, mine]));
      expect((await ledger.claim([], "t")).rows).toHaveLength(3);
      expect(await ledger.claim([])).toEqual({ known: [], rows: [] });
      await ledger.close();
    });

    test("a lookup finds the existing row and inserts nothing", async () => {
      const ledger = await open("question", createMovedClock());
      const ask = async (id: string): Promise<unknown> => {
        const claims = [{ thread: "t", row: row("thread", id), isLookup: true as const }];
        return (await ledger.claim([...claims, { thread: "u", row: row("run", id) }])).known;
      };
      expect(await ask("a")).toEqual([undefined, undefined]);
      expect(await ask("a")).toEqual([undefined, {}]);
      await ledger.write("t", [row("thread", "a", { owner: "x" })]);
      expect(await ask("a")).toEqual([{ owner: "x" }, {}]);
      expect(await rowsOf(ledger, "t")).toHaveLength(1);
      await ledger.close();
    });

    test("threads without recent writes are removed whole, others are not", async () => {
      const clock = createMovedClock();
      const ledger = await open("forget", clock);
      await ledger.write("old", [row("message", "a")]);
      await claimOne(ledger, "old", row("run", "r"));
      clock.time = 2000;
      await ledger.write("young", [row("message", "b")]);
      clock.time = 1000;
      await ledger.write("young", []);
      expect(await ledger.forget(2000)).toBe(1);
      expect(await rowsOf(ledger, "old")).toEqual([]);
      expect(await claimOne(ledger, "old", row("run", "r"))).toBeUndefined();
      expect(await rowsOf(ledger, "young")).toEqual([row("message", "b")]);
      await ledger.close();
    });
  });
}
