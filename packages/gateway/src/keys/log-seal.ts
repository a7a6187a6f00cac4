import { hkdfSync } from "node:crypto";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { createLogSeal } from "@countersign/receipts/log";
import type { LogSeal } from "@countersign/receipts/log";

const KEY_BYTES = 32;

/**
 * The seal of a log. Its key is derived from the checkpoint key, so operators have no further key to keep: a holder
 * of the checkpoint key can sign for the log anyway.
 */
export function logSealOf(checkpointKey: Ed25519Key, origin: string): LogSeal {
  const secret = exportPrivateKeyPem(checkpointKey);
  const key = hkdfSync("sha256", secret, "", "countersign.log-seal.v1", KEY_BYTES);
  return createLogSeal(new Uint8Array(key), origin);
}
