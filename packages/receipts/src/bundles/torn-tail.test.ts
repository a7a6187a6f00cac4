import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { fill, logOver } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import type { TornTail } from "./torn-tail.js";

/** Two whole entries and the start of a third, as a crash in the middle of a write leaves them. */
const TORN = Buffer.from("\0\x03abc\0\x02de\0\x09f", "latin1");

test("a torn write is saved before it is truncated, and reported once", async () => {
  await withDirectory(async (directory) => {
    const segment = join(directory, "segments", "0000000000000000.log");
    const torn: TornTail[] = [];
    const open = () => openSqliteStore({ directory, onTorn: (one) => torn.push(one) });
    const log = await logOver(await open());
    await fill(log, 3);
    await log.close();
    const whole = await readFile(segment);
    await appendFile(segment, TORN);
    await (await open()).close();
    expect(torn).toMatchObject([
      { position: whole.length, seq: 3, bytes: TORN.length, entries: 2 },
    ]);
    expect(await readFile(torn[0]?.file ?? "")).toEqual(TORN);
    expect(await readFile(segment)).toEqual(whole);
    await (await open()).close();
    expect(torn).toHaveLength(1);
  });
});

test("the torn writes of the last eight crashes are kept, and none prevents the log from opening", async () => {
  await withDirectory(async (directory) => {
    const segment = join(directory, "segments", "0000000000000000.log");
    const log = await logOver(await openSqliteStore({ directory }));
    await fill(log, 1);
    await log.close();
    for (let crash = 1; crash <= 12; crash += 1) {
      await appendFile(segment, Buffer.concat([TORN, Buffer.from([crash])]));
      await (await openSqliteStore({ directory })).close();
    }
    const kept = await readdir(join(directory, "torn"));
    expect(
      kept.map((name) => Number(/-(\d+)\.torn$/u.exec(name)?.[1])).toSorted((a, b) => a - b),
    ).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
