import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { openKey } from "../keys/key-directory.js";
import { readTls } from "./read-tls.js";

test("an invalid certificate is reported with its file", async () => {
  const home = await mkdtemp(join(tmpdir(), "countersign-tls-"));
  try {
    const junk = join(home, "junk.pem");
    await writeFile(junk, "junk");
    const absent = join(home, "absent.pem");
    expect(() => readTls({ cert: junk, key: absent })).toThrow(
      `${junk} cannot be used: it is not PEM`,
    );
    expect(() => readTls({ cert: absent, key: junk })).toThrow(
      `${absent} cannot be used: it is not there`,
    );
  } finally {
    await rm(home, { recursive: true });
  }
});

test("a key file without a key is reported with its path and not with its content", async () => {
  const home = await mkdtemp(join(tmpdir(), "countersign-key-"));
  try {
    await writeFile(join(home, "receipts.pem"), "not-a-key");
    const failure: unknown = await openKey(home, "receipts").catch((error: unknown) => error);
    expect(isCountersignError(failure, "ERR_KEYS_UNREADABLE")).toBe(true);
    expect((failure as Error).message).toContain(join(home, "receipts.pem"));
    expect((failure as Error).message).not.toContain("not-a-key");
  } finally {
    await rm(home, { recursive: true });
  }
});
