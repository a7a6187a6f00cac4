import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
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

/** Creates an empty database; a server that does not respond is an error. */
async function createDatabase(server: RunningPostgres, name: string): Promise<string> {
  const client = new Client({ connectionString: server.url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** One server for all tests of a file, and a database of its own for each; gateways are stopped after each test. */
export function aroundEachTest(): SharedDatabase {
  let server: RunningPostgres;
  let database: RunningPostgres;
  let open: Served[] = [];
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  }, 30_000);
  beforeEach(async () => {
    open = [];
    const name = `test_${(count += 1)}`;
    const url = await createDatabase(server, name).catch(async () => {
      // A test that failed can leave its server stopped or frozen.
      await server.stop();
      server = await startPostgres();
      return createDatabase(server, name);
    });
    database = { ...server, url };
  }, 30_000);
  afterEach(async () => {
    for (const served of open) await served.stop();
  }, 30_000);
  afterAll(() => server.stop(), 30_000);
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
