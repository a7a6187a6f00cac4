import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GatewayConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { sampleDraft } from "../testing/sample-draft.js";
import { openReceipts } from "./open-receipts.js";
import { startGateway } from "./serve.js";

let folder: string;
let config: GatewayConfig;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-head-"));
  config = loadConfig("agents:\n  a:\n    url: http://127.0.0.1:1/\n", {
    file: join(folder, "countersign.yaml"),
    environment: {},
  });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function record(events: number, agent = "a"): Promise<void> {
  const { log } = await openReceipts(config);
  for (let index = 0; index < events; index++) {
    await log.append(sampleDraft(`evt_${index}`, agent));
  }
  await log.close();
}

test("a store that lost signed entries is refused, whatever its own checkpoint says", async () => {
  await record(3);
  await record(2);
  // Everything is gone, the store's own checkpoint included: to the store, this is a new log.
  await rm(join(folder, ".countersign", "receipts"), { recursive: true });
  await expect(openReceipts(config)).rejects.toMatchObject({ code: "ERR_KEYS_LOG_CHANGED" });
});

test("a store with as many entries, but different ones, is refused", async () => {
  const kept = join(folder, "kept");
  const remembered = join(folder, ".countersign", "keys", "last-checkpoint");
  await record(3);
  await copyFile(remembered, kept);
  await rm(join(folder, ".countersign", "receipts"), { recursive: true });
  await rm(remembered);
  await record(3, "somebody-else");
  await copyFile(kept, remembered);
  await expect(openReceipts(config)).rejects.toMatchObject({ code: "ERR_KEYS_LOG_CHANGED" });
});

test("a log that only grew is opened again", async () => {
  await record(3);
  await record(2);
  const { log, store } = await openReceipts(config);
  expect((await store.head()).size).toBe(5);
  await log.close();
});

test("a log that other keys sign is refused, and its own keys open it again", async () => {
  await record(2);
  const keys = join(folder, ".countersign", "keys");
  await rename(keys, join(folder, "kept-keys"));
  await expect(openReceipts(config)).rejects.toMatchObject({ code: "ERR_KEYS_OTHER_LOG" });
  await expect(startGateway(config)).rejects.toMatchObject({ code: "ERR_KEYS_OTHER_LOG" });
  // A refused start creates no keys, so that those of the log can be restored.
  expect(existsSync(keys)).toBe(false);
  await rename(join(folder, "kept-keys"), keys);
  await record(1);
});

test("a damaged copy of the checkpoint is reported with its path, wherever the damage is", async () => {
  await record(2);
  const file = join(folder, ".countersign", "keys", "last-checkpoint");
  const text = await readFile(file, "utf8");
  const changed = [0, 22, 40, 75, 100].map(
    (at) => `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`,
  );
  for (const damaged of ["", text.slice(0, 60), ...changed]) {
    await writeFile(file, damaged);
    await expect(openReceipts(config)).rejects.toMatchObject({
      code: "ERR_KEYS_UNREADABLE",
      facts: { file },
    });
  }
  await writeFile(file, text);
  await record(1);
});
