import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll } from "vitest";
import { testQueryProperty } from "../testing/query-property.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

testQueryProperty((log) => openPostgresStore({ url: server.url, log }), 8);
