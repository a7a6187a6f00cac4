import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { EntryDraft } from "@countersign/receipts/log";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GatewayConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { openKey } from "../keys/key-directory.js";
import { openReceipts } from "./open-receipts.js";

let folder: string;
let config: GatewayConfig;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-tail-"));
  config = loadConfig("agents:\n  a:\n    url: http://127.0.0.1:1/\n", {
    file: join(folder, "countersign.yaml"),
    environment: {},
  });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const DRAFT: EntryDraft = {
  receipt: {
    timestamp: 1,
    event_id: "evt_1",
    agent_id: "a",
    capability_id: "<none>",
    event_type: "text_stream",
    classification: "display",
    transport: "sse",
    allowed: true,
    payload_hash: sha256Hex("{}"),
  },
  direction: "outbound",
  policy_hash: sha256Hex("policy"),
  mode: "enforce",
};

/** Leaves an entry behind the last checkpoint, as whoever is killed does. */
async function leave(key: Ed25519Key): Promise<void> {
  const store = await openSqliteStore({ directory: config.receipts.store.slice(7) });
  const signer = await createSigningPool(key);
  const { origin } = config.receipts;
  const checkpointSigner = createSigner(key);
  const log = await openLog({ store, signer, checkpointSigner, origin, checkpointInterval: 0 });
  await log.append(DRAFT);
  await signer.close();
  await store.close();
}

test("behind the last checkpoint a gateway goes on after its own entries, and not after those of others", async () => {
  const { log } = await openReceipts(config);
  await log.append(DRAFT);
  await log.close();
  await leave(await openKey(config.keyDirectory, "receipts"));
  const again = await openReceipts(config);
  expect(await again.log.append(DRAFT)).toMatchObject({ seq: 2 });
  await again.log.close();
  await leave(generateKey());
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(openReceipts(config)).rejects.toMatchObject({
      code: "ERR_KEYS_FOREIGN_ENTRY",
      facts: { seq: 3 },
    });
  }
});
