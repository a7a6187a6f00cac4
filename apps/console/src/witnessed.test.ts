import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE, parseVkey } from "@countersign/receipts";
import { findBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenAt, startWitness } from "../../../packages/receipts/src/testing/running-witness.js";
import type { RunningWitness } from "../../../packages/receipts/src/testing/running-witness.js";
import { openConsole, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";

const hasNoBrowser = findBrowser() === undefined;
const names = ["witness.example/amsterdam", "witness.example/berlin"];

let folder: string;
let opened: OpenedConsole;
let witness: RunningWitness;
beforeAll(async () => {
  if (hasNoBrowser) return;
  folder = await mkdtemp(join(tmpdir(), "countersign-console-witness-"));
  // The witness must know the key of the log, which exists once the gateway has started.
  const { port, close } = await listenAt(() => undefined);
  await close();
  const key = generateKey();
  const list = names.map((name, index) => {
    const { publicKey } = createSigner(index === 0 ? key : generateKey());
    const vkey = encodeVkey(createNoteKey(name, publicKey, NOTE_COSIGNATURE));
    return `{ vkey: "${vkey}", url: "http://127.0.0.1:${port}/" }`;
  });
  const block = `receipts: { witnesses: { threshold: 1, interval: 0.5, list: [${list.join(", ")}] } }`;
  opened = await openConsole(undefined, undefined, block);
  const logs = [parseVkey(opened.served.running.receipts.logKey)];
  const directory = join(folder, "state");
  witness = await startWitness({ directory, logs, name: names[0] ?? "", key, port });
  await opened.talk("alice", "run-1");
}, PATIENCE);
afterAll(async () => {
  await opened?.stop();
  await witness?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

test.skipIf(hasNoBrowser)(
  "an entry names the witnesses that cosigned it, and the health names the witness that does not",
  async () => {
    const { witnessing } = opened.served.running.receipts.attesting;
    await expect
      .poll(() => witnessing?.witnessed?.size ?? 0, { timeout: 20_000 })
      .toBeGreaterThan(0);
    const page = await opened.open("#/receipts/0");
    const section = page.getByRole("region", { name: "Witnesses" });
    await section.getByText("Witnessed by 1 of 2 (").waitFor();
    expect(await section.textContent()).toContain("witness.example/amsterdam");
    const checks = page.getByRole("region", { name: "Verified in this browser" });
    await checks.getByText("Enough witnesses that you trust cosigned the checkpoint").waitFor();
    expect(await checks.textContent()).toContain("1 of 2 trusted, 1 needed");
    await checks
      .getByText("Signed, unchanged, and in the log that this gateway presents")
      .waitFor();
    const shots = process.env["SCREENSHOTS"];
    if (shots !== undefined) {
      for (const scheme of ["light", "dark"] as const) {
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme: scheme });
          const path = join(shots, `witnessed-${scheme}-${width}.png`);
          await page.screenshot({ path, fullPage: true, animations: "disabled" });
        }
      }
    }
    const health = await opened.open("#/");
    const line = health.locator("dl.health > div").filter({ hasText: "Witnesses" });
    await line.getByText("1 of 2 cosigned").waitFor();
    expect(await line.textContent()).toContain("witness.example/berlin: ");
    if (shots !== undefined) {
      const path = join(shots, "witnessed-health.png");
      await health.screenshot({ path, fullPage: true, animations: "disabled" });
    }
    expect(opened.pageErrors).toEqual([]);
  },
  PATIENCE,
);
