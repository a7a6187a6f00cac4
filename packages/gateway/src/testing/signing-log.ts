import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { ReceiptLog } from "@countersign/receipts/log";
import { createInThreadSigner } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";

/** A log that really signs, in its own folder. */
export type SigningLog = {
  readonly log: ReceiptLog;
  /** The public key of its receipts, as a client would trust it. */
  readonly key: string;
  close(): Promise<void>;
};

/** Opens the log. */
export async function openSigningLog(sign: "each" | "batch" = "each"): Promise<SigningLog> {
  const directory = await mkdtemp(join(tmpdir(), "countersign-log-"));
  const key = generateKey();
  const log = await openLog({
    store: await openSqliteStore({ directory }),
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(generateKey()),
    origin: "test/log",
    durability: "relaxed",
    sign,
    checkpointInterval: 0,
  });
  return {
    log,
    key: `ed25519:${encodeHex(createSigner(key).publicKey)}`,
    close: async () => {
      await log.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
