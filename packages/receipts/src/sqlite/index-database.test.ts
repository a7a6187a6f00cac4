import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LogEntry } from "../entry/entry.js";
import { draftOf } from "../testing/drafts.js";
import { withDirectory } from "../testing/directory.js";
import { entryOf, segmentOf, writeSegment } from "../testing/segment.js";
import { Blocks } from "./blocks.js";
import { openDatabase } from "../store/sqlite-engine.js";
import { IndexDatabase } from "./index-database.js";
import { SCHEMA } from "./schema.js";

const entriesOf = (count: number): LogEntry[] =>
  Array.from({ length: count }, (_, seq) => entryOf(seq, draftOf(seq)));

function countBy(entries: readonly LogEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { receipt, rule } of entries) {
    const group = JSON.stringify([receipt.session_id ?? null, receipt.allowed, rule ?? null]);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}

function counted(index: IndexDatabase): Map<string, number> {
  const rows = index.count({ by: ["session_id", "allowed", "rule"] });
  return new Map(rows.map((row) => [JSON.stringify(row.group), row.count]));
}

test("an index that resumes after it was closed counts like one that never closed", async () => {
  await withDirectory(async (directory) => {
    const entries = entriesOf(400);
    const bytes = segmentOf(entries, 50);
    writeSegment(directory, bytes);
    const half = segmentOf(entries.slice(0, 200), 50).length;
    for (const [size, position] of [
      [200, half],
      [400, bytes.length],
    ] as const) {
      const index = await IndexDatabase.open(directory, { size, position });
      expect(index.follow({ size, position })).toBe(false);
      expect(index.progress).toEqual({ size, position });
      expect(counted(index)).toEqual(countBy(entries.slice(0, size)));
      expect(index.follow({ size, position })).toBe(false);
      index.close();
    }
  });
});

test("a segment that differs from the acknowledged log gets a coded error, and nothing of that chunk is indexed", async () => {
  const entries = entriesOf(60);
  const sound = segmentOf(entries, 20);
  const at = (text: string): number => sound.indexOf(text, sound.indexOf('"seq":30'));
  const swapped = [...entries.slice(0, 30), entries[31], entries[30], ...entries.slice(32)];
  const damages: [string, Buffer][] = [
    [
      "a member's name",
      Buffer.from(sound).fill("x", at('"session_id"') + 1, at('"session_id"') + 3),
    ],
    [
      "a class",
      Buffer.from(sound).fill("#", at('"classification":"') + 18, at('"classification":"') + 20),
    ],
    [
      "a number",
      Buffer.from(sound).fill("9", sound.indexOf('"seq":30') + 7, sound.indexOf('"seq":30') + 8),
    ],
    ["an order", segmentOf(swapped as LogEntry[], 20)],
    ["a commit", Buffer.from(sound).fill(1, sound.length - 37, sound.length - 36)],
    [
      "a missing entry",
      Buffer.concat([
        segmentOf(entries.slice(0, 20), 20),
        sound.subarray(segmentOf(entries.slice(0, 21), 20).length - 44),
      ]),
    ],
  ];
  for (const [what, bytes] of damages) {
    await withDirectory(async (directory) => {
      writeSegment(directory, bytes);
      const log = { size: 60, position: bytes.length };
      const index = await IndexDatabase.open(directory, log);
      expect(() => index.follow(log), what).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^ERR_(?:STORE_CORRUPT|ENTRY|RECEIPT)/),
        }),
      );
      expect(index.progress.size).toBe(0);
      expect(index.count({})).toEqual([{ count: 0, group: [] }]);
      // Entries before the damage are still indexed when requested alone.
      const whole = segmentOf(entries.slice(0, 20), 20).length;
      expect(index.follow({ size: 20, position: whole })).toBe(false);
      expect(counted(index)).toEqual(countBy(entries.slice(0, 20)));
      index.close();
    });
  }
});

test("a query for a time range misses no part of the log that has entries in it", async () => {
  const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(times, fc.nat(1_000), fc.nat(1_000), async (received, since, until) => {
      const database = await openDatabase(":memory:");
      database.exec(SCHEMA);
      const blocks = new Blocks(database);
      const inScope = (scope: string[]): number[] =>
        database
          .prepare(`SELECT last_seq FROM spans WHERE ${scope.join(" AND ")}`)
          .all()
          .map((row) => Number(row["last_seq"]));
      const insert = database.prepare("INSERT INTO spans VALUES (?, ?, 0, 1, ?, ?, '')");
      const spans = received.map((time, index) => {
        const last = index * 1_500;
        return { first: Math.max(0, last - 900), last, earliest: time, latest: time };
      });
      for (const { first, last, earliest, latest } of spans) {
        insert.run(last, first, earliest, latest);
      }
      for (let at = 0; at < spans.length; at += 3) blocks.add(spans.slice(at, at + 3));
      const scope = inScope(blocks.between(since, until));
      const meant = received.flatMap((time, index) =>
        time >= since && time < until ? [index * 1_500] : [],
      );
      expect(meant.filter((seq) => !scope.includes(seq))).toEqual([]);
      expect(inScope(blocks.between(1_001, undefined))).toEqual([]);
      expect(inScope(blocks.between(undefined, 0))).toEqual([]);
      database.close();
    }),
    { numRuns: 60 },
  );
});

test("queries that match thousands of kinds, or a handful, find what a full scan finds", async () => {
  await withDirectory(async (directory) => {
    const entries = Array.from({ length: 6_000 }, (_, seq) => {
      const changes = { run_id: `run_${seq % 2_900}`, received_at: (seq * 7_919) % 10_007 };
      return entryOf(seq, draftOf(seq, changes));
    });
    const bytes = segmentOf(entries, 500);
    writeSegment(directory, bytes);
    const log = { size: entries.length, position: bytes.length };
    const index = await IndexDatabase.open(directory, log);
    while (index.follow(log));
    const at = new Map<number, number>();
    for (let position = 0; position < bytes.length;) {
      const length = bytes.readUInt16BE(position);
      if (length > 0) at.set(position, at.size);
      position += length === 0 ? 44 : 2 + length;
    }
    const filters = [
      { agent_id: "agent-1" },
      { agent_id: "agent-1", since: 4_000, until: 4_300 },
      { run_id: "run_77" },
      { run_id: ["run_77", "run_78"], since: 5_000 },
      { rule: "rules.ag_ui[2]", until: 100 },
      { agent_id: "agent-2", id: `agui-${draftOf(42).receipt.event_id}` },
      { since: 9_990 },
    ];
    for (const filter of filters) {
      const wanted = entries.filter(
        ({ receipt, rule, run_id, received_at }) =>
          (filter.agent_id ?? receipt.agent_id) === receipt.agent_id &&
          (filter.id ?? receipt.id) === receipt.id &&
          (filter.rule ?? rule) === rule &&
          [filter.run_id ?? run_id].flat().includes(run_id) &&
          received_at >= (filter.since ?? 0) &&
          received_at < (filter.until ?? Number.POSITIVE_INFINITY),
      );
      for (const order of ["oldest", "newest"] as const) {
        const found: number[] = [];
        let cursor: string | undefined;
        do {
          const page = { order, limit: 500, ...(cursor === undefined ? {} : { cursor }) };
          const result = index.query(filter, page);
          found.push(...result.places.map(({ position }) => at.get(position) ?? -1));
          cursor = result.cursor;
        } while (cursor !== undefined);
        if (order === "newest") found.reverse();
        expect(found).toEqual(wanted.map(({ seq }) => seq));
      }
      expect(index.count({ filter })).toEqual([{ count: wanted.length, group: [] }]);
      const rows = index.count({ filter, by: ["agent_id"], bucket: 1_000 });
      expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(wanted.length);
    }
    expect(index.query({}, { order: "oldest" }, 50).places.length).toBe(50);
    expect(index.count({ filter: { agent_id: "agent-1" } }, 100)).toEqual([
      { count: 25, group: [] },
    ]);
    index.close();
  });
});
