import { rm } from "node:fs/promises";
import { createSigner, generateKey } from "@countersign/core/sign";
import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { bundleForNode } from "../testing/bundle.js";
import { checkWholeLog } from "../testing/check-log.js";
import { startCuttingProxy } from "../testing/cutting-proxy.js";
import { draftOf } from "../testing/drafts.js";
import { runAppender } from "../testing/run-appender.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
let appender: URL;
beforeAll(async () => {
  [server, appender] = await Promise.all([startPostgres(), bundleForNode("testing/appender.ts")]);
});
afterAll(async () => {
  await server.stop();
  await rm(appender);
});

test("four writing processes make one log without gaps and one valid tree", async () => {
  const writers = [0, 1, 2, 3].map((writer) =>
    runAppender(appender, "postgres", server.url, String(writer * 10_000), "400"),
  );
  expect(await Promise.all(writers.map((writer) => writer.ended))).toEqual([0, 0, 0, 0]);
  const store = await openPostgresStore({ url: server.url, log: "shared" });
  const entries = await checkWholeLog(store);
  expect(entries).toHaveLength(1_600);
  for (const writer of writers) {
    for (const [seq, number] of writer.acked) {
      expect(entries[seq]?.receipt.event_id).toBe(draftOf(number).receipt.event_id);
    }
  }
  const turns = entries.filter(
    (entry, at) =>
      at > 0 && entry.receipt.event_id.at(-5) !== entries[at - 1]?.receipt.event_id.at(-5),
  );
  // They really interleaved, instead of one after the other.
  expect(turns.length).toBeGreaterThan(3);
  await store.close();
});

test("a writer killed under load leaves the log to the others", async () => {
  const victim = runAppender(appender, "postgres", server.url, "100000");
  const other = runAppender(appender, "postgres", server.url, "200000", "400");
  while (victim.acked.size < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  victim.child.kill("SIGKILL");
  await victim.ended;
  expect(await other.ended).toBe(0);
  const store = await openPostgresStore({ url: server.url, log: "shared" });
  const entries = await checkWholeLog(store);
  for (const [seq, number] of [...victim.acked, ...other.acked]) {
    expect(entries[seq]?.receipt.event_id).toBe(draftOf(number).receipt.event_id);
  }
  await store.close();
});

test.each([
  { when: "BEGIN", answer: "lost" },
  { when: "countersign_append", answer: "lost" },
  { when: "COMMIT", answer: "lost" },
  { when: "COMMIT", answer: "persisted" },
] as const)(
  "a connection cut at $when ($answer) rejects, and the next append finds the true tail",
  async (cut) => {
    const proxy = await startCuttingProxy(server.url);
    const store = await openPostgresStore({ url: proxy.url, log: `cut ${cut.when} ${cut.answer}` });
    const log = await openLog({
      store,
      signer: await createInThreadSigner(generateKey()),
      checkpointSigner: createSigner(generateKey()),
      origin: "cut.example/log",
      checkpointInterval: 0,
    });
    await log.append(draftOf(0));
    proxy.cutAt(cut.when, cut.answer);
    await expect(log.append(draftOf(1))).rejects.toMatchObject({ code: "ERR_STORE_WRITE" });
    const next = await log.append(draftOf(2));
    // A lost reply leaves an entry without an acknowledgement; the sequence continues after it.
    expect(next.seq).toBe(cut.answer === "persisted" ? 2 : 1);
    const entries = await checkWholeLog(store);
    expect(entries.at(-1)?.receipt.event_id).toBe(draftOf(2).receipt.event_id);
    await log.close();
    await proxy.close();
  },
);

test("a server that crashes under load loses nothing acknowledged and is used again after its restart", async () => {
  const store = await openPostgresStore({ url: server.url, log: "crash" });
  const log = await openLog({
    store,
    signer: await createInThreadSigner(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "crash.example/log",
    checkpointInterval: 0,
    groupSize: 5,
  });
  const acked = new Map<number, number>();
  let number = 0;
  let down = false;
  const stream = async (): Promise<void> => {
    while (!down) {
      const mine = number++;
      const appended = await log.append(draftOf(mine)).catch(() => undefined);
      if (appended === undefined) return;
      acked.set(appended.seq, mine);
    }
  };
  const streams = Array.from({ length: 10 }, stream);
  while (acked.size < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.crash();
  down = true;
  await Promise.all(streams);
  await expect(log.append(draftOf(1))).rejects.toMatchObject({ code: "ERR_STORE_WRITE" });
  await server.start();
  await log.append(draftOf(123_456));
  const entries = await checkWholeLog(store);
  for (const [seq, mine] of acked) {
    expect(entries[seq]?.receipt.event_id).toBe(draftOf(mine).receipt.event_id);
  }
  await log.close();
});
