import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROW_BYTES } from "./evidence-store.js";
import type { EvidenceRow, EvidenceStore } from "./evidence-store.js";
import {
  hasPostgresEvidence,
  openPostgresEvidence,
  readPostgresEvidence,
} from "./postgres/open-postgres-evidence.js";
import { openSqliteEvidence, readSqliteEvidence } from "./sqlite/open-sqlite-evidence.js";

let directory: string;
let server: RunningPostgres;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-evidence-"));
  server = await startPostgres();
}, 60_000);
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const row = (seq: number, keptAt = seq, size = 10): EvidenceRow => ({
  seq,
  keptAt,
  keyId: "k",
  bytes: new Uint8Array(size).fill(seq % 256),
});
const seqs = (rows: readonly EvidenceRow[]): number[] => rows.map(({ seq }) => seq);
const upTo = (end: number): number[] => Array.from({ length: end }, (_, seq) => seq);

const STORES: readonly [
  title: string,
  open: (name: string) => Promise<EvidenceStore>,
  read: (name: string, seqs: readonly number[]) => Promise<EvidenceRow[] | undefined>,
][] = [
  [
    "SQLite",
    (name) => openSqliteEvidence({ directory: join(directory, name) }),
    (name, wanted) => readSqliteEvidence(join(directory, name), wanted),
  ],
  [
    "PostgreSQL",
    (name) => openPostgresEvidence({ url: server.url, name }),
    (name, wanted) => readPostgresEvidence({ url: server.url, name }, wanted),
  ],
];

test("a command that reads creates no table", async () => {
  const place = { url: server.url, name: "none" };
  expect(await hasPostgresEvidence(server.url)).toBe(false);
  expect(await readPostgresEvidence(place, [1])).toBeUndefined();
  expect(await hasPostgresEvidence(server.url)).toBe(false);
});

describe.each(STORES)("evidence in %s", (_, open, read) => {
  test("what was written is read back, in the order of the entries, also by a command beside it", async () => {
    const store = await open("read");
    const rows = fc.uniqueArray(
      fc.record({
        seq: fc.nat({ max: 2 ** 40 }),
        keptAt: fc.nat({ max: 2 ** 45 }),
        keyId: fc.constantFrom("a", "b"),
        bytes: fc.uint8Array({ maxLength: 50 }),
      }),
      { selector: ({ seq }) => seq, minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(rows, async (written) => {
        await store.write(written);
        const expected = written.toSorted((one, other) => one.seq - other.seq);
        const found = await store.read(seqs(written));
        expect(found.map((one) => ({ ...one, bytes: new Uint8Array(one.bytes) }))).toEqual(
          expected,
        );
        expect(seqs((await read("read", seqs(written))) ?? [])).toEqual(seqs(expected));
      }),
      { numRuns: 20 },
    );
    expect(await store.read([2 ** 41])).toEqual([]);
    await store.close();
  });

  test("another row of an entry replaces the first, and the newest key is told", async () => {
    const store = await open("again");
    expect([await store.newestKey(), await store.usage()]).toEqual([
      undefined,
      { records: 0, bytes: 0 },
    ]);
    await store.write([row(1)]);
    await store.write([{ ...row(1, 9), keyId: "new" }]);
    expect(await store.read([1])).toMatchObject([{ keptAt: 9, keyId: "new" }]);
    expect(await store.newestKey()).toBe("new");
    await store.close();
  });

  test("a sweep removes every row before a time, and no other", async () => {
    const store = await open("old");
    await store.write(upTo(1300).map((seq) => row(seq)));
    expect(await store.sweep(1200, Number.MAX_SAFE_INTEGER)).toBe(1200);
    expect(await store.usage()).toMatchObject({ records: 100, oldest: 1200 });
    expect(await store.sweep(1200, Number.MAX_SAFE_INTEGER)).toBe(0);
    await store.close();
  });

  test("a sweep removes the oldest rows until the others fit, whatever their order was", async () => {
    const store = await open("full");
    const size = 1000;
    const rows = upTo(1200).map((seq) => row(seq, 5000 - seq, size - ROW_BYTES));
    await store.write(rows);
    expect((await store.usage()).bytes).toBe(1200 * size);
    expect(await store.sweep(0, 100 * size + 1)).toBe(1100);
    const { bytes, records } = await store.usage();
    expect([bytes, records]).toEqual([100 * size, 100]);
    expect(seqs(await store.read(upTo(1200)))).toEqual(upTo(100));
    await store.close();
  });

  test("rows are there when the store is opened again after a process that did not close it", async () => {
    const killed = await open("killed");
    await killed.write([row(7)]);
    const next = await open("killed");
    expect(seqs(await next.read([7]))).toEqual([7]);
    await next.close();
    await killed.close();
  });

  test("a closed store rejects a write instead of losing it silently", async () => {
    const store = await open("closed");
    await store.close();
    await expect(store.write([row(1)])).rejects.toMatchObject({ code: "ERR_EVIDENCE_UNAVAILABLE" });
  });
});

test("removed copies leave no bytes in the files of SQLite, and the files shrink", async () => {
  const folder = join(directory, "shrink");
  const store = await openSqliteEvidence({ directory: folder });
  const mark = new Uint8Array(200_000).fill(0xa7);
  await store.write(upTo(50).map((seq) => ({ ...row(seq), bytes: mark })));
  await store.sweep(100, 1_000_000);
  await store.close();
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name));
    expect([name, bytes.includes(Buffer.from(mark.subarray(0, 64)))]).toEqual([name, false]);
    expect(bytes.length).toBeLessThan(200_000);
  }
});
