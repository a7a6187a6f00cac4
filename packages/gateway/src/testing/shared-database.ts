import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { startIdentity } from "./identity.js";
import type { Identity } from "./identity.js";
import type { Served } from "./served.js";

/** A database for each test of a file, and the gateways on it. */
export type SharedDatabase = {
  readonly database: RunningPostgres;
  /** Stopped after each test. */
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

/**
 * One database and one identity provider for all tests of a file; gateways are stopped after each
 * test.
 */
export function aroundAllTests(): SharedDatabase & { readonly identity: Identity } {
  let database: RunningPostgres;
  let identity: Identity;
  const open: Served[] = [];
  beforeAll(async () => {
    database = await startPostgres();
    identity = await startIdentity();
  }, 30_000);
  afterEach(async () => {
    for (const served of open.splice(0)) await served.stop();
  }, 30_000);
  afterAll(async () => {
    await identity.stop();
    await database.stop();
  }, 30_000);
  return {
    get database() {
      return database;
    },
    get identity() {
      return identity;
    },
    open,
  };
}
