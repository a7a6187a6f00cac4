import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { GatewayConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import { sampleDraft } from "../testing/sample-draft.js";
import { openReceipts } from "./open-receipts.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-scrub-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function configOf(store: string): GatewayConfig {
  const text = `agents:\n  a:\n    url: http://127.0.0.1:1/\nreceipts:\n  store: ${store}\n  scrub_rate: 100000\n`;
  return loadConfig(text, { file: join(folder, "countersign.yaml"), environment: {} });
}

async function record(config: GatewayConfig, events: number): Promise<void> {
  const { log } = await openReceipts(config);
  for (let index = 0; index < events; index += 1) {
    await log.append(sampleDraft(`evt_${index}`));
  }
  await log.close();
}

/** The log of a new gateway, until its scrub has found something. */
async function findDamage(config: GatewayConfig): Promise<{ lines: object[]; first: unknown }> {
  const lines: object[] = [];
  const quiet = (): void => {};
  const telemetry = createTelemetry();
  const { log } = await openReceipts(config, telemetry, {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (facts) => lines.push(facts),
  });
  await vi.waitFor(() => expect(telemetry.scrub.damages).toBeGreaterThan(0), { timeout: 10_000 });
  await log.close();
  return { lines, first: telemetry.scrub.first };
}

const DAMAGE = { seq: 1, reason: "the entry does not hash to its leaf" };

test("an old entry with corrupted bytes is found while the gateway keeps running, and logged", async () => {
  const config = configOf(`sqlite:${join(folder, "receipts")}`);
  await record(config, 3);
  const segment = join(folder, "receipts", "segments", "0000000000000000.log");
  const bytes = await readFile(segment);
  // A start does not read it: it is not after the last checkpoint.
  bytes.write("agent-two", bytes.lastIndexOf("agent-one", bytes.indexOf("evt_1")));
  await writeFile(segment, bytes);
  const { lines, first } = await findDamage(config);
  expect(first).toEqual(DAMAGE);
  expect(lines).toEqual([{ code: "LOG_DAMAGED", ...DAMAGE }]);
});

test("a changed row in PostgreSQL is found as well", async () => {
  const server = await startPostgres();
  try {
    const config = configOf(server.url);
    await record(config, 3);
    const client = new Client({ connectionString: server.url });
    await client.connect();
    // Queries use the index: a changed time hides an entry, and no hash covers it.
    await client.query(
      "UPDATE countersign_spans SET latest = latest - 1 WHERE first_seq <= 2 AND last_seq >= 2",
    );
    expect((await findDamage(config)).first).toMatchObject({
      seq: 2,
      reason: expect.stringContaining("contradicts the entry"),
    });
    await client.query(
      "UPDATE countersign_entries SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE seq = 1",
    );
    await client.end();
    expect((await findDamage(config)).first).toEqual(DAMAGE);
  } finally {
    await server.stop();
  }
});
