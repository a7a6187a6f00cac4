import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleForNode } from "../testing/bundle.js";
import { describeStoreContract } from "../testing/store-contract.js";
import { openSqliteStore } from "./open-sqlite-store.js";

let directory: string;
let workerFile: URL;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-sqlite-"));
  workerFile = await bundleForNode("sqlite/worker.ts");
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await rm(workerFile);
});

describeStoreContract("embedded store, index in its own thread", (log) =>
  openSqliteStore({ directory: join(directory, "threads", log), workerFile }),
);
describeStoreContract("embedded store, index in this thread", (log) =>
  openSqliteStore({ directory: join(directory, "here", log), segmentBytes: 100_000 }),
);

test("an index that cannot be opened in its own thread is reported with its cause, not as a thread that ended", async () => {
  const log = join(directory, "broken");
  await mkdir(join(log, "foreign.sqlite"), { recursive: true });
  const failure: unknown = await openSqliteStore({ directory: log, workerFile }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: "ERR_STORE_READ", facts: { cause: "SQLITE_CANTOPEN" } });
});
