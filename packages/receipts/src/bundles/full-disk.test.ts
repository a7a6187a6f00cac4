import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { describe, expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { checkWholeLog } from "../testing/check-log.js";
import { draftOf } from "../testing/drafts.js";

// System programs; without them the test is skipped.
const [MOUNT, UNMOUNT] = ["mount", "umount"] as const;

/** A real file system of eight megabytes; undefined where mounting is not permitted. */
function mountSmall(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "countersign-full-"));
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=8m", "tmpfs", directory], {
      stdio: "ignore",
    });
    return directory;
  } catch {
    rmSync(directory, { recursive: true, force: true });
    process.stdout.write(
      "full-disk.test.ts: no file system can be mounted here, the full disk stays an injected one\n",
    );
    return undefined;
  }
}

const mounted = mountSmall();

describe.skipIf(mounted === undefined)("a file system that is full", () => {
  test("refuses appends, loses nothing acknowledged, and takes entries again once there is room", async () => {
    const root = mounted as string;
    try {
      const directory = join(root, "log");
      const ballast = join(root, "ballast");
      // More than the log, its preallocated bytes and its index need together once there is room.
      writeFileSync(ballast, Buffer.alloc(4_500 << 10));
      const key = generateKey();
      const open = async () =>
        openLog({
          store: await openSqliteStore({ directory }),
          signer: await createInThreadSigner(key),
          checkpointSigner: createSigner(key),
          origin: "full.example/log",
          checkpointInterval: 0,
        });
      let log = await open();
      let acknowledged = 0;
      let refused: unknown;
      for (let at = 0; refused === undefined && at < 20_000; at += 100) {
        const drafts = Array.from({ length: 100 }, (_, index) => draftOf(at + index));
        await log.appendAll(drafts).then(
          (entries) => {
            acknowledged += entries.length;
          },
          (error: unknown) => {
            refused = error;
          },
        );
      }
      expect(refused).toMatchObject({ code: "ERR_STORE_WRITE", facts: { cause: "ENOSPC" } });
      expect(acknowledged).toBeGreaterThan(0);

      rmSync(ballast);
      expect((await log.append(draftOf(2))).seq).toBe(acknowledged);
      await log.close();
      log = await open();
      expect((await log.append(draftOf(3))).seq).toBe(acknowledged + 1);
      await log.close();
      const store = await openSqliteStore({ directory, readOnly: true });
      expect((await store.head()).size).toBe(acknowledged + 2);
      await checkWholeLog(store);
      await store.close();
    } finally {
      // Lazily, because a failed test leaves files open and its own error must stay visible.
      execFileSync(UNMOUNT, ["-l", root]);
      rmSync(root, { recursive: true, force: true });
    }
  });
});
