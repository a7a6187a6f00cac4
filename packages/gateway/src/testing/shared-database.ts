import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { afterEach, beforeEach } from "vitest";
import type { Served } from "./served.js";

/** A database of its own for each test of a file, and the gateways on it. */
export type SharedDatabase = {
  readonly database: RunningPostgres;
  /** Stopped behind each test. */
  readonly open: Served[];
};

/** Starts and stops them around each test. */
export function aroundEachTest(): SharedDatabase {
  let database: RunningPostgres;
  let open: Served[];
  beforeEach(async () => {
    open = [];
    database = await startPostgres();
  }, 30_000);
  afterEach(async () => {
    for (const served of open) await served.stop();
    await database.stop();
  }, 30_000);
  return {
    get database() {
      return database;
    },
    get open() {
      return open;
    },
  };
}
