import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHex, encodeHex } from "../bytes/hex.js";
import * as nodeSign from "./sign-node.js";
import * as webSign from "./sign-webcrypto.js";
import * as nodeVerify from "./verify-node.js";
import * as webVerify from "./verify-webcrypto.js";
import { supported } from "./webcrypto.js";

// RFC 8032 §7.1: seed, public key, message, signature.
const VECTORS = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
  [
    "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  ],
] as const;

// RFC 8410 §10.1 and §10.3.
const PRIVATE_PEM =
  "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
const PUBLIC_PEM =
  "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

type Awaitable<T> = T | Promise<T>;

interface SignFace<Key extends { publicKey: Uint8Array }> {
  generateKey(): Awaitable<Key>;
  importPrivateKey(pemOrSeed: string | Uint8Array): Awaitable<Key>;
  exportPrivateKeyPem(key: Key): Awaitable<string>;
  createSigner(key: Key): {
    publicKey: Uint8Array;
    sign(message: Uint8Array): Awaitable<Uint8Array>;
  };
}

holds("node", nodeSign, nodeVerify);
holds("webcrypto", webSign, webVerify);

function holds<Key extends { publicKey: Uint8Array }>(
  name: string,
  { createSigner, exportPrivateKeyPem, generateKey, importPrivateKey }: SignFace<Key>,
  { exportPublicKeyPem, importPublicKeyPem, verifyEd25519 }: typeof nodeVerify,
): void {
  test(`${name}: signs and verifies the vectors of RFC 8032`, async () => {
    for (const [seed, publicKey, message, signature] of VECTORS) {
      const signer = createSigner(await importPrivateKey(decodeHex(seed)));
      expect(encodeHex(signer.publicKey)).toBe(publicKey);
      expect(encodeHex(await signer.sign(decodeHex(message)))).toBe(signature);
      expect(await verifyEd25519(signer.publicKey, decodeHex(message), decodeHex(signature))).toBe(
        true,
      );
    }
  });

  test(`${name}: reads and writes the PEM keys of RFC 8410`, async () => {
    const key = await importPrivateKey(PRIVATE_PEM);
    expect(await exportPrivateKeyPem(key)).toBe(PRIVATE_PEM);
    expect(exportPublicKeyPem(key.publicKey)).toBe(PUBLIC_PEM);
    expect(importPublicKeyPem(PUBLIC_PEM.replaceAll("\n", "\r\n"))).toEqual(key.publicKey);
  });

  test(`${name}: one changed bit anywhere makes a signature invalid`, async () => {
    const signer = createSigner(await generateKey());
    const message = new TextEncoder().encode("a countersigned event");
    const signature = await signer.sign(message);
    expect(await verifyEd25519(signer.publicKey, message, signature)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: (message.length + 96) * 8 - 1 }), async (bit) => {
        const all = [new Uint8Array(signer.publicKey), message.slice(), new Uint8Array(signature)];
        let at = bit >> 3;
        for (const part of all) {
          if (at >= 0 && at < part.length) part[at] = (part[at] ?? 0) ^ (1 << (bit & 7));
          at -= part.length;
        }
        const [publicKey, changed, forged] = all as [Uint8Array, Uint8Array, Uint8Array];
        expect(await verifyEd25519(publicKey, changed, forged)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test(`${name}: no signature is valid under a small-order or non-canonical key`, async () => {
    // R = identity and S = 0 satisfy the equation for the identity key, whatever the message.
    const forged = decodeHex(`01${"00".repeat(63)}`);
    for (const y of [
      `01${"00".repeat(31)}`,
      `01${"00".repeat(30)}80`,
      "00".repeat(32),
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
      `ec${"ff".repeat(30)}7f`,
      `ed${"ff".repeat(30)}7f`,
      `ee${"ff".repeat(30)}7f`,
      `f0${"ff".repeat(31)}`,
    ]) {
      const key = decodeHex(y);
      expect(await verifyEd25519(key, new Uint8Array(3), forged)).toBe(false);
      expect(() => importPublicKeyPem(exportPublicKeyPem(key))).toThrow(
        expect.objectContaining({ code: "ERR_ED25519_WEAK_KEY" }),
      );
    }
  });

  test(`${name}: a signature with an unreduced scalar is invalid`, async () => {
    const [, publicKey, message, signature] = VECTORS[1];
    const bytes = decodeHex(signature);
    const order = decodeHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let carry = 0;
    for (let index = 0; index < 32; index++) {
      carry += (bytes[32 + index] ?? 0) + (order[index] ?? 0);
      bytes[32 + index] = carry & 255;
      carry >>= 8;
    }
    expect(await verifyEd25519(decodeHex(publicKey), decodeHex(message), bytes)).toBe(false);
  });

  test(`${name}: wrong lengths and wrong PEM are coded errors without key material`, async () => {
    const length = expect.objectContaining({ code: "ERR_ED25519_LENGTH" });
    const pem = expect.objectContaining({ code: "ERR_ED25519_PEM" });
    const empty = new Uint8Array();
    const run = async (action: () => unknown): Promise<unknown> => action();
    await expect(
      run(() => verifyEd25519(new Uint8Array(31), empty, new Uint8Array(64))),
    ).rejects.toEqual(length);
    await expect(
      run(() => verifyEd25519(new Uint8Array(32), empty, new Uint8Array(63))),
    ).rejects.toEqual(length);
    await expect(run(() => importPrivateKey(new Uint8Array(33)))).rejects.toEqual(length);
    for (const text of [
      "",
      PUBLIC_PEM,
      PRIVATE_PEM.replace("MC4C", "MC4D"),
      PRIVATE_PEM.slice(1),
    ]) {
      await expect(run(() => importPrivateKey(text))).rejects.toEqual(pem);
    }
    expect(() => importPublicKeyPem(PRIVATE_PEM)).toThrow(pem);
    expect(JSON.stringify(await importPrivateKey(PRIVATE_PEM))).not.toContain("1O5y2");
  });
}

test("a runtime without Ed25519 is reported as such, other failures stay unchanged", async () => {
  const unknown = Promise.reject(new DOMException("", "NotSupportedError"));
  await expect(supported(unknown)).rejects.toMatchObject({ code: "ERR_ED25519_UNAVAILABLE" });
  await expect(supported(Promise.reject(new RangeError("other")))).rejects.toThrow(RangeError);
});

test("more keys than the cache holds still verify", async () => {
  for (let round = 0; round < 70; round++) {
    const signer = nodeSign.createSigner(nodeSign.generateKey());
    const message = Uint8Array.of(round);
    expect(await nodeVerify.verifyEd25519(signer.publicKey, message, signer.sign(message))).toBe(
      true,
    );
  }
});
