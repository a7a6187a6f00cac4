import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const AGENT = "agents:\n  a:\n    url: http://h/\n";
const load = (text: string, environment: Record<string, string> = {}) =>
  loadConfig(AGENT + text, { file: "/srv/countersign.yaml", environment });

test("by default the log is at info, metrics need the token, traces are off, threads are kept 30 days and runs get 30 seconds", () => {
  expect(load("")).toMatchObject({
    log: { level: "info", format: "auto" },
    metrics: { isPublic: false },
    tracing: undefined,
    threads: { keepMs: 30 * 86_400_000 },
    shutdown: { delayMs: 0, drainTimeoutMs: 30_000 },
  });
});

test("the URL of the store and the headers of the collector take secrets from the environment", () => {
  const config = load(
    'receipts: { store: "postgres://gateway:${PG}@db/receipts" }\n' +
      'tracing: { endpoint: "http://c:4318/v1/traces", headers: { X-Key: "${KEY}" } }\n',
    { PG: "secret", KEY: "k" },
  );
  expect(config.receipts.store).toBe("postgres://gateway:secret@db/receipts");
  expect(config.tracing?.headers).toEqual({ "x-key": "k" });
});

test("NAME_FILE names a file with the secret; its last line break is removed", () => {
  const file = join(mkdtempSync(join(tmpdir(), "secret-")), "pg");
  writeFileSync(file, "from-file\n");
  const text = 'receipts: { store: "postgres://u:${PG}@db/r" }\n';
  expect(load(text, { PG_FILE: file }).receipts.store).toBe("postgres://u:from-file@db/r");
  expect(() => load(text, { PG_FILE: `${file}.gone` })).toThrow(/PG, used here, is not set/u);
});

test("a collector whose URL is not http or https is refused with its position", () => {
  expect(() => load("tracing: { endpoint: collector:4317 }\n")).toThrow(
    /countersign\.yaml:4:22: endpoint must start with http/u,
  );
});

test("threads are kept for whole days, at least one", () => {
  expect(load("threads: { keep_days: 400 }\n").threads.keepMs).toBe(400 * 86_400_000);
  expect(() => load("threads: { keep_days: 0 }\n")).toThrow(/countersign\.yaml:4:\d+/u);
});
