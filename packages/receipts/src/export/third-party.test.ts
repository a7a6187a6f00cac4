import { execFile, execFileSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSigner, generateKey } from "@countersign/core/sign";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeKeyRecord } from "../keys/history.js";
import { startKeyHistory } from "../keys/rotate.js";
import { openLog } from "../log/open-log.js";
import { proveGrowth } from "../log/prove-entry.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { draftOf } from "../testing/drafts.js";
import { writeExport } from "./write-export.js";

// Go's own note and tlog packages (the code behind sum.golang.org) read our export. Debian ships
// them as source; elsewhere GOPATH locates them.
const PROGRAM = fileURLToPath(new URL("../../third-party/main.go", import.meta.url));
const GO_PROGRAM: string = "go";
const GO = {
  ...process.env,
  GO111MODULE: "off",
  GOPATH: process.env["GOPATH"] ?? "/usr/share/gocode",
  GOFLAGS: "",
};

function hasGo(): boolean {
  try {
    const packages = ["golang.org/x/mod/sumdb/note", "golang.org/x/mod/sumdb/tlog"];
    execFileSync(GO_PROGRAM, ["list", ...packages], { env: GO, stdio: "ignore" });
    return true;
  } catch {
    process.stdout.write(
      "third-party.test.ts: no Go with golang.org/x/mod here (Debian: golang-go, golang-golang-x-mod-dev), its checks are skipped\n",
    );
    return false;
  }
}

const ORIGIN = "gw.example.com/third-party";
const SIZE = 1_000;
const OLD_SIZE = 333;
let root = "";

function run(...parameters: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(join(root, "auditor"), parameters, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr });
    });
  });
}

async function makeExport(): Promise<void> {
  const [key, logKey] = [generateKey(), generateKey()];
  const store = await openSqliteStore({ directory: join(root, "log") });
  const log = await openLog({
    store,
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(logKey),
    origin: ORIGIN,
    sign: "batch",
    checkpointInterval: 0,
  });
  const drafts = Array.from({ length: SIZE }, (_, number) => draftOf(number));
  await log.appendAll(drafts.slice(0, OLD_SIZE));
  await writeFile(join(root, "old-checkpoint"), await log.checkpoint());
  await log.appendAll(drafts.slice(OLD_SIZE));
  const checkpoint = await log.checkpoint();
  const growth = await proveGrowth(store, OLD_SIZE, SIZE);
  const lines = growth.map((hash) => `${Buffer.from(hash).toString("base64")}\n`);
  await writeFile(join(root, "growth"), lines.join(""));
  const first = await startKeyHistory(createSigner(key), { createdAt: 0, firstEntry: 0 });
  await writeExport(
    join(root, "export"),
    {
      checkpoint,
      vkey: encodeVkey(createNoteKey(ORIGIN, logKey.publicKey)),
      keys: `${encodeKeyRecord(first)}\n`,
      entries: await store.readEntries(0, SIZE),
    },
    { proofs: [0, 1, 255, 256, 767, 768, 999] },
  );
  await log.close();
}

describe.skipIf(!hasGo())("an auditor written in Go, with Go's own packages", () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "countersign-third-party-"));
    execFileSync(GO_PROGRAM, ["build", "-o", join(root, "auditor"), PROGRAM], { env: GO });
    await makeExport();
  }, 120_000);
  afterAll(() => rm(root, { recursive: true, force: true }));

  test("accepts checkpoint, tiles, entries, receipts, proofs and growth of an export", async () => {
    const { code, output } = await run(
      "-old",
      join(root, "old-checkpoint"),
      "-growth",
      join(root, "growth"),
      join(root, "export"),
    );
    expect(output).toContain(`held    ${SIZE} entries hash to the signed root`);
    expect(output).toContain(`held    ${SIZE} receipt signatures`);
    expect(output).toContain("held    7 inclusion proofs");
    expect(output).toContain(`held    consistency with the checkpoint of ${OLD_SIZE} entries`);
    expect(code).toBe(0);
  });

  test.each([
    ["checkpoint", "checkpoint signature"],
    ["tile/0/001", "tile/0/001"],
    ["tile/1/000.p/3", "tile/1/000.p/3"],
    ["tile/entries/002", "signed root"],
    ["receipts.jsonl", "receipt"],
    ["proofs/768.tlog-proof", "proof"],
  ])("refuses one changed bit in %s", async (path, named) => {
    const bad = join(root, `bad-${path.replaceAll("/", "-")}`);
    await cp(join(root, "export"), bad, { recursive: true });
    const bytes = await readFile(join(bad, path));
    // Hashes come first in a proof: flip one bit of one.
    const at = path.startsWith("proofs/") ? 60 : bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(join(bad, path), bytes);
    const { code, output } = await run(bad);
    expect(code).toBe(1);
    expect(output).toContain("FAILED");
    expect(output).toContain(named);
  });

  test("refuses a consistency proof from a checkpoint of another history", async () => {
    const lines = (await readFile(join(root, "growth"), "utf8")).split("\n").toReversed();
    await writeFile(join(root, "growth-reversed"), lines.join("\n"));
    const { code, output } = await run(
      "-old",
      join(root, "old-checkpoint"),
      "-growth",
      join(root, "growth-reversed"),
      join(root, "export"),
    );
    expect([code, output]).toEqual([1, expect.stringContaining("FAILED  consistency")]);
  });
});
