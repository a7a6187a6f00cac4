import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { testQueryProperty } from "../testing/query-property.js";
import { openSqliteStore } from "./open-sqlite-store.js";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-property-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

testQueryProperty((log) => openSqliteStore({ directory: join(directory, log) }), 12);
