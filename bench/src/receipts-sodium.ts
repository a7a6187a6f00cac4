import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";

// Signs the same 600 bytes repeatedly: the maximum of one core with libsodium.
type Sodium = {
  crypto_sign_keypair(publicKey: Buffer, secretKey: Buffer): void;
  crypto_sign_detached(signature: Buffer, message: Buffer, secretKey: Buffer): void;
};
const fromReceipts = createRequire(import.meta.resolve("@countersign/receipts"));
const sodium = fromReceipts("sodium-native") as Sodium;
const secretKey = Buffer.alloc(64);
sodium.crypto_sign_keypair(Buffer.alloc(32), secretKey);
const message = Buffer.alloc(600, 0x61);
const signature = Buffer.alloc(64);

parentPort?.on("message", (milliseconds: number) => {
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < milliseconds) {
    for (let index = 0; index < 20; index += 1) {
      sodium.crypto_sign_detached(signature, message, secretKey);
    }
    count += 20;
  }
  parentPort?.postMessage((count * 1_000) / (performance.now() - start));
});
