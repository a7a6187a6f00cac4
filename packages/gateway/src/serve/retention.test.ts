import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadConfig } from "../config/load.js";
import { sampleDraft } from "../testing/sample-draft.js";
import { openReceipts } from "./open-receipts.js";
import { startGateway } from "./serve.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-retention-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HOUR_MS = 3_600_000;

test("a gateway removes receipts past receipts.keep when it starts, and says so in log, API and status", async () => {
  const postgres = await startPostgres();
  try {
    const text = `agents:\n  a:\n    url: http://127.0.0.1:1/\nlisten:\n  port: 0\ncontrol:\n  port: 0\nreceipts:\n  store: ${postgres.url}\n  keep: 2h\n`;
    const config = loadConfig(text, { file: join(folder, "countersign.yaml"), environment: {} });
    const { log } = await openReceipts(config);
    const now = Date.now();
    const age = (index: number): number => (index < 300 ? 3 * HOUR_MS : HOUR_MS);
    await log.appendAll(
      Array.from({ length: 600 }, (_, index) => ({
        ...sampleDraft(`evt_${index}`),
        received_at: now - age(index),
      })),
    );
    await log.close();
    const lines: object[] = [];
    const quiet = (): void => {};
    const journal = { debug: quiet, info: (facts: object) => lines.push(facts), warn: quiet };
    const gateway = await startGateway(config, {
      journal: { ...journal, error: quiet },
      acceptedMissing: new Set(["ledger"]),
    });
    try {
      await vi.waitFor(() => expect(lines).toContainEqual({ first: 256 }), { timeout: 10_000 });
      const headers = { authorization: `Bearer ${gateway.freshAdminToken}` };
      const get = (path: string): Promise<Response> =>
        fetch(`${gateway.controlUrl}${path}`, { headers });
      const status = (await (await get("/v1/status")).json()) as { store: object };
      expect(status.store).toMatchObject({ entries: 601, first_entry: 256 });
      const gone = await get("/v1/receipts/export?start=0");
      expect([gone.status, await gone.json()]).toEqual([
        410,
        expect.objectContaining({ code: "ERR_STORE_REMOVED" }),
      ]);
      expect((await get("/v1/receipts/5/proof")).status).toBe(200);
      const announced = await get("/v1/receipts?event_type=custom:operator.retention");
      const { entries } = (await announced.json()) as { entries: { receipt: object }[] };
      expect(entries.map(({ receipt }) => receipt)).toMatchObject([
        { agent_id: "<operator>", target: { component_id: "256" }, classification: "destroy" },
      ]);
    } finally {
      await gateway.close();
    }
  } finally {
    await postgres.stop();
  }
});
