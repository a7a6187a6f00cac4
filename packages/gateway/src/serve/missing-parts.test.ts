import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GatewayConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { sampleDraft } from "../testing/sample-draft.js";
import type { AcceptedMissing } from "./own-log.js";
import { startGateway } from "./serve.js";

let folder: string;
let config: GatewayConfig;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-missing-"));
  config = loadConfig(
    "agents:\n  a:\n    url: http://127.0.0.1:1/\nlisten: { port: 0 }\ncontrol: { port: 0 }\n",
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(folder, ".countersign", ...names);
const CHECKPOINT = ["keys", "last-checkpoint"] as const;
const LEDGER = ["receipts", "ledger"] as const;

let events = 0;
/** Starts, records an event, and stops. */
async function serveOnce(...accepted: ("checkpoint" | "ledger")[]): Promise<void> {
  const acceptedMissing: AcceptedMissing = new Set(accepted);
  const running = await startGateway(config, { acceptedMissing });
  events += 1;
  await running.receipts.log.append(sampleDraft(`evt_${events}`, "a"));
  await running.close();
}

/** Copies the files on disk, as after `kill -9`, without the lock of this process. */
async function copyDisk(name: string): Promise<void> {
  const filter = (file: string): boolean => !file.endsWith("/lock");
  await cp(at(), join(folder, name), { recursive: true, filter });
}
async function restoreDisk(name: string): Promise<void> {
  await rm(at(), { recursive: true, force: true });
  await rename(join(folder, name), at());
}

test("a first start requires nothing, and neither does one after a kill at any moment", async () => {
  const running = await startGateway(config);
  await copyDisk("before the first entry");
  await running.receipts.log.append(sampleDraft("evt_0", "a"));
  await copyDisk("before the first checkpoint");
  const { readCheckpoint } = running.receipts.store;
  await running.receipts.log.checkpoint();
  expect(await readCheckpoint()).toContain("countersign.local/log");
  await copyDisk("after the first checkpoint");
  await running.close();
  // The store keeps a checkpoint first, then the key directory does: killed between the two.
  const before = await readFile(join(folder, "before the first checkpoint", ...CHECKPOINT));
  for (const moment of [
    "before the first entry",
    "before the first checkpoint",
    "after the first checkpoint",
  ]) {
    await restoreDisk(moment);
    if (moment.startsWith("after")) await writeFile(at(...CHECKPOINT), before);
    await serveOnce();
  }
});

test("a missing kept checkpoint needs the operator's acceptance, once", async () => {
  await serveOnce();
  await rm(at(...CHECKPOINT));
  for (const accepted of [[], ["ledger"]] as "ledger"[][]) {
    await expect(serveOnce(...accepted)).rejects.toMatchObject({
      code: "ERR_KEYS_CHECKPOINT_MISSING",
      message: expect.stringMatching(/Fix: .*--accept-missing checkpoint/u),
    });
  }
  const accepted = await startGateway(config, { acceptedMissing: new Set(["checkpoint"]) });
  // Kept again at once, so that the next start is compared with it whatever happens now.
  expect(await readFile(at(...CHECKPOINT), "utf8")).toContain("countersign.local/log\n1\n");
  await accepted.close();
  await serveOnce();
});

test("an emptied checkpoint is refused, whatever was accepted", async () => {
  await serveOnce();
  await writeFile(at(...CHECKPOINT), "");
  await expect(serveOnce("checkpoint")).rejects.toMatchObject({ code: "ERR_KEYS_UNREADABLE" });
});

test("a missing ledger, or a new one in its place, needs the operator's acceptance, once", async () => {
  await serveOnce();
  await rm(at(...LEDGER), { recursive: true });
  const refused = {
    code: "ERR_LEDGER_MISSING",
    message: expect.stringMatching(/Fix: .*--accept-missing ledger/u),
  };
  await expect(serveOnce()).rejects.toMatchObject(refused);
  // The refused start left an empty one behind.
  await expect(serveOnce("checkpoint")).rejects.toMatchObject(refused);
  await serveOnce("ledger");
  await serveOnce();
});

test("a log without entries requires no ledger, and one that was removed together with its keys is a first start", async () => {
  await (await startGateway(config)).close();
  await rm(at(...LEDGER), { recursive: true });
  await serveOnce();
  await rm(at(), { recursive: true });
  await expect(serveOnce()).resolves.toBeUndefined();
});

test("missing keys next to a log that they signed are not a first start", async () => {
  await serveOnce();
  await rm(at("keys"), { recursive: true });
  await expect(serveOnce("checkpoint", "ledger")).rejects.toMatchObject({
    code: "ERR_KEYS_OTHER_LOG",
  });
});
