import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigner, exportPrivateKeyPem, generateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GatewayConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { openKey } from "../keys/key-directory.js";
import { handOverKey, logSealOf } from "../keys/key-history.js";
import { sampleDraft } from "../testing/sample-draft.js";
import { openReceipts } from "./open-receipts.js";
import { shareHistory } from "./stored-history.js";

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

const DRAFT = sampleDraft("evt_1");

/** Leaves an entry after the last checkpoint, as a killed gateway does; with the keys of the log, or without. */
async function leave(keys: { receipts: Ed25519Key; checkpoint?: Ed25519Key }): Promise<void> {
  const store = await openSqliteStore({ directory: config.receipts.store.slice(7) });
  const signer = await createSigningPool(keys.receipts);
  const { origin } = config.receipts;
  const log = await openLog({
    store,
    signer,
    checkpointSigner: createSigner(keys.checkpoint ?? keys.receipts),
    ...(keys.checkpoint && { seal: logSealOf(keys.checkpoint, origin) }),
    origin,
    checkpointInterval: 0,
  });
  await log.append(DRAFT);
  await signer.close();
  await store.close();
}

test("a gateway continues after its own entries behind the last checkpoint, and not after foreign ones", async () => {
  const { log } = await openReceipts(config);
  await log.append(DRAFT);
  await log.close();
  const receipts = await openKey(config.keyDirectory, "receipts");
  const checkpoint = await openKey(config.keyDirectory, "checkpoint");
  await leave({ receipts, checkpoint });
  const again = await openReceipts(config);
  expect(await again.log.append(DRAFT)).toMatchObject({ seq: 2 });
  await again.log.close();
  // Even an entry signed by the right key: a receipt can be repeated, and only the seal proves who appended it.
  await leave({ receipts });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(openReceipts(config)).rejects.toMatchObject({
      code: "ERR_LOG_FOREIGN_TAIL",
      facts: { size: 4, covered: 3 },
    });
  }
});

/** Opens the receipts, adds an entry and closes them. */
async function attach(): Promise<void> {
  const { log } = await openReceipts(config);
  await log.append(DRAFT);
  await log.close();
}

test("an older copy of the key directory is refused after another gateway retired its key", async () => {
  await attach();
  const { keyDirectory } = config;
  const [older, newer] = [join(folder, "older"), join(folder, "newer")];
  await cp(keyDirectory, older, { recursive: true });
  const keys = { old: await openKey(keyDirectory, "receipts"), next: generateKey() };
  await handOverKey(keyDirectory, keys, { firstEntry: 1, now: 1 });
  await writeFile(join(keyDirectory, "receipts.pem"), exportPrivateKeyPem(keys.next));
  await cp(keyDirectory, newer, { recursive: true });
  const store = await openSqliteStore({ directory: config.receipts.store.slice(7) });
  await shareHistory(keyDirectory, store);
  await store.close();
  // Nothing is signed with the new key yet.
  await cp(older, keyDirectory, { recursive: true, force: true });
  await expect(openReceipts(config)).rejects.toMatchObject({ code: "ERR_KEYS_HISTORY" });
  await cp(newer, keyDirectory, { recursive: true, force: true });
  await attach();
});
