import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createLogSeal } from "./seal.js";

test("a seal is the HMAC that the documentation describes, byte by byte", () => {
  const key = new Uint8Array(32).fill(9);
  const root = new Uint8Array(32).fill(3);
  const size = Buffer.from([0, 0, 0, 1, 0, 0, 0, 2]);
  const message = Buffer.concat([
    Buffer.from("countersign.log-seal.v1\0gw.example/log\0"),
    size,
    root,
  ]);
  const seal = createLogSeal(key, "gw.example/log");
  const expected = createHmac("sha256", key).update(message).digest();
  // Independent of earlier seals.
  seal.of(7, new Uint8Array(32).fill(255));
  expect(seal.of(2 ** 32 + 2, root)).toEqual(expected);
  expect(createLogSeal(key, "other.example/log").of(2 ** 32 + 2, root)).not.toEqual(expected);
});
