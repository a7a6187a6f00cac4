import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fill, logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { columnText } from "./column-text.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

/** Text that does not compress well. */
const chinese = (length: number): string =>
  Array.from({ length }, (_, at) =>
    String.fromCodePoint(0x4e00 + ((at * 7919 + at * at * 31) % 20_000)),
  ).join("");

test.each([
  ["with U+0000", "a\u0000b"],
  ["of 1,024 Chinese characters", chinese(1024)],
  ["of 900 characters outside the basic plane", "\u{1F6E1}".repeat(900)],
])("an entry whose run id is %s is stored with others, and found by it", async (name, run) => {
  const store = await openPostgresStore({ url: server.url, log: name });
  const log = await logOver(store);
  await fill(log, 1);
  await Promise.all([
    log.append(draftOf(1)),
    log.append(draftOf(2, { run_id: run })),
    log.append(draftOf(3)),
  ]);
  const { entries } = await store.query({ run_id: run }, {});
  expect(entries.map(({ run_id }) => run_id)).toEqual([run]);
  expect(await store.findMismatchedRow?.(0, 4)).toBeUndefined();
  await log.close();
});

test("a text that fits a column is stored unchanged, and no two texts have the same column value", () => {
  for (const text of ["", "run-1", chinese(600), "x".repeat(2000)])
    expect(columnText(text)).toBe(text);
  const odd = ["a\u0000b", "a\uFFFDb", chinese(1024), `${chinese(1024)}x`, "x".repeat(2001)];
  expect(new Set(odd.map(columnText)).size).toBe(odd.length);
});
