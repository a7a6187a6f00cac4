import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { startKeyHistory } from "../keys/rotate.js";
import { encodeKeyRecord } from "../keys/history.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { announcementOf } from "../testing/retention-contract.js";
import { verifyExportDirectory } from "../verify-node/index.js";
import type { Verification } from "../verify/result.js";
import { entriesPath, tilePath } from "../tiles/path.js";
import { writeExport } from "./write-export.js";

const receiptKey = generateKey();
const trust = { trustedKeys: [`ed25519:${encodeHex(receiptKey.publicKey)}`] };

/** An export of a log without its first 768 entries; `announced` is what its announcement says. */
async function withExport(
  announced: number,
  use: (directory: string) => Promise<void>,
): Promise<void> {
  await withDirectory(async (directory) => {
    const store = await openSqliteStore({
      directory: join(directory, "log"),
      segmentBytes: 60_000,
    });
    const log = await logOver(store, { signer: await createInThreadSigner(receiptKey) });
    await fill(log, 1_300);
    await log.append(announcementOf(announced, 1_300));
    const checkpoint = await log.checkpoint();
    const first = await store.planRemoval(800, 0);
    expect(first).toBe(768);
    await store.remove(first);
    const record = await startKeyHistory(createSigner(receiptKey), { createdAt: 0, firstEntry: 0 });
    const target = join(directory, "export");
    const entries = await store.readEntries(first, 1_301);
    const readTile = store.readTile.bind(store);
    await writeExport(
      target,
      {
        checkpoint,
        vkey: encodeVkey(createNoteKey(ORIGIN, noteKey.publicKey)),
        keys: `${encodeKeyRecord(record)}\n`,
        entries,
        removed: { first, announcement: 1_300, readTile },
      },
      { proofs: [5, 1_000] },
    );
    await log.close();
    await use(target);
  });
}

const statusOf = ({ checks }: Verification, id: string): string | undefined =>
  checks.find((check) => check.id === id)?.status;

test("an export without removed entries verifies, and says which entries are not there and why", async () => {
  await withExport(768, async (directory) => {
    const result = await verifyExportDirectory(directory, trust);
    expect(result).toMatchObject({ valid: true, signerTrusted: null });
    expect(result.checks.find(({ id }) => id === "entries-removed")).toMatchObject({
      status: "held",
      detail: "entries 0 to 767 were removed because of their age; entry 1300 announces it",
    });
    const readme = await readFile(join(directory, "README.md"), "utf8");
    expect(readme).toContain("entries 0 to 767 are no longer in the log");
    expect(statusOf(result, "tree-root")).toBe("held");
  });
});

test.each([
  ["an announcement of fewer entries", async () => undefined, 512],
  [
    "another first entry than the files have",
    (directory: string) =>
      writeFile(join(directory, "removed.json"), '{"first":512,"announcement":1300}\n'),
    768,
  ],
  [
    "an announcement that is another entry",
    (directory: string) =>
      writeFile(join(directory, "removed.json"), '{"first":768,"announcement":1299}\n'),
    768,
  ],
  [
    "a claim that cannot be read",
    (directory: string) => writeFile(join(directory, "removed.json"), "{}"),
    768,
  ],
  ["no claim", (directory: string) => rm(join(directory, "removed.json")), 768],
  [
    "a missing bundle after the removed ones",
    (directory: string) => rm(join(directory, entriesPath(3))),
    768,
  ],
  [
    "a changed hash of a removed entry's tile",
    async (directory: string) => {
      const path = join(directory, tilePath({ level: 1, index: 0, width: 5 }));
      const bytes = await readFile(path);
      bytes[3] = (bytes[3] ?? 0) ^ 1;
      await writeFile(path, bytes);
    },
    768,
  ],
] as const)("an export is not valid with %s", async (_, change, announced) => {
  await withExport(announced, async (directory) => {
    await change(directory);
    expect((await verifyExportDirectory(directory, trust)).valid).toBe(false);
  });
});
