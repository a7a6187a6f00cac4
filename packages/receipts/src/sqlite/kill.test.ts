import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleForNode } from "../testing/bundle.js";
import { checkWholeLog } from "../testing/check-log.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import { runAppender } from "../testing/run-appender.js";
import { openDatabase } from "../store/sqlite-engine.js";
import { openSqliteStore } from "./open-sqlite-store.js";

let appender: URL;
beforeAll(async () => {
  appender = await bundleForNode("testing/appender.ts");
});
afterAll(() => rm(appender));

test("repeated kill -9 under load loses no acknowledged entry, and the log continues", async () => {
  await withDirectory(async (directory) => {
    const acked = new Map<number, number>();
    for (let round = 0; round < 4; round += 1) {
      const running = runAppender(appender, "sqlite", directory, String(round * 1_000_000));
      const before = running.acked.size;
      while (running.acked.size < before + 200) await wait(5);
      await wait(round * 17);
      running.child.kill("SIGKILL");
      await running.ended;
      for (const [seq, number] of running.acked) acked.set(seq, number);
      const store = await openSqliteStore({ directory });
      const entries = await checkWholeLog(store);
      for (const [seq, number] of acked) {
        expect(entries[seq]?.receipt.event_id).toBe(draftOf(number).receipt.event_id);
      }
      const [counted] = await store.count({});
      expect(counted?.count).toBe(entries.length);
      await store.close();
    }
    expect(acked.size).toBeGreaterThan(800);
  });
});

test("an index that was lost, damaged or written by an older version is rebuilt", async () => {
  await withDirectory(async (directory) => {
    const running = runAppender(appender, "sqlite", directory, "0", "700");
    expect(await running.ended).toBe(0);
    const index = join(directory, "index.sqlite");
    const damages = [
      () => rm(index),
      () => writeFile(index, "this is not a database, nor was it ever one"),
      async () => {
        await rm(index);
        const older = await openDatabase(index);
        older.exec("CREATE TABLE entries (seq INTEGER PRIMARY KEY); PRAGMA user_version = 1");
        older.close();
      },
    ];
    for (const damage of damages) {
      await damage();
      const store = await openSqliteStore({ directory });
      expect(await store.count({})).toEqual([{ count: 700, group: [] }]);
      expect(await store.indexed()).toBe(700);
      await store.close();
    }
  });
});
