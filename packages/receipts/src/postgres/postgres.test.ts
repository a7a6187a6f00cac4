import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll } from "vitest";
import { describeStoreContract } from "../testing/store-contract.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeStoreContract("PostgreSQL store", (log) => openPostgresStore({ url: server.url, log }));
