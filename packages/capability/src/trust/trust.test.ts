import { encodeHex } from "@countersign/core";
import { exportPublicKeyPem } from "@countersign/core/verify";
import { calculateJwkThumbprint } from "jose";
import { expect, test } from "vitest";
import { ISSUER_KEY, STRANGER_KEY } from "../testing/fixtures.js";
import { keyName, keyThumbprint, readPublicKey, toJwk } from "./public-key.js";
import { createTrustList } from "./trust-list.js";

const { publicKey } = ISSUER_KEY;

test("a key reads the same from every encoding", () => {
  for (const spelling of [
    keyName(publicKey),
    encodeHex(publicKey),
    exportPublicKeyPem(publicKey),
    toJwk(publicKey),
    publicKey,
  ]) {
    expect(readPublicKey(spelling)).toEqual(publicKey);
  }
});

test.each<[string, Parameters<typeof readPublicKey>[0]]>([
  ["nothing", ""],
  ["upper case hex", keyName(publicKey).toUpperCase()],
  ["31 bytes", encodeHex(publicKey.slice(1))],
  ["a point of small order", `ed25519:01${"00".repeat(31)}`],
  ["another curve", { ...toJwk(publicKey), crv: "X25519" }],
  ["a private JWK", { ...toJwk(publicKey), d: "secret" }],
])("%s is not a key, and the error contains nothing of it", (_what, input) => {
  expect(() => readPublicKey(input)).toThrow(
    "not an Ed25519 public key (ed25519:<64 hex>, PEM or JWK)",
  );
});

test("the key id is jose's thumbprint", async () => {
  expect(keyThumbprint(publicKey)).toBe(await calculateJwkThumbprint({ ...toJwk(publicKey) }));
});

test("an issuer's keys count for that issuer alone, and all of them do while it rotates", () => {
  const trust = createTrustList([
    { issuer: "alpha", keys: [publicKey, toJwk(STRANGER_KEY.publicKey)] },
    publicKey,
  ]);
  expect(trust.find("alpha", keyThumbprint(publicKey))).toEqual(publicKey);
  expect(trust.find("alpha", keyThumbprint(STRANGER_KEY.publicKey))).toEqual(
    STRANGER_KEY.publicKey,
  );
  expect(trust.find(keyName(publicKey), keyThumbprint(publicKey))).toEqual(publicKey);
  expect(trust.find(keyName(publicKey), keyThumbprint(STRANGER_KEY.publicKey))).toBeUndefined();
  expect(trust.find("__proto__", keyThumbprint(publicKey))).toBeUndefined();
  expect(trust.issuers).toEqual(["alpha", keyName(publicKey)]);
});
