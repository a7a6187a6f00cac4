import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { loadFastVerifier } from "@countersign/receipts/verify-node";

// Checks only the signatures of receipts: the maximum of one core.
const DIFFERENT = 4_000;
const check = await loadFastVerifier();
const signed = readFileSync(String(workerData), "latin1")
  .split("\n", DIFFERENT)
  .map((line) => {
    const [, key = "", signature = ""] =
      /"kernel_key":"ed25519:(\w+)".*"signature":"ed25519:(\w+)"/.exec(line) ?? [];
    return {
      key: Buffer.from(key, "hex"),
      message: Buffer.from(line.replace(/,"signature":"[^"]*"/, ""), "latin1"),
      signature: Buffer.from(signature, "hex"),
    };
  });

parentPort?.on("message", (count: number) => {
  for (let done = 0; done < count; done += 1) {
    const one = signed[done % signed.length];
    if (one === undefined || check(one.key, one.message, one.signature) !== true) {
      throw new Error("a signature of the export does not hold");
    }
  }
  parentPort?.postMessage(count);
});
parentPort?.postMessage(signed.length);
