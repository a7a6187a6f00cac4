import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isCountersignError } from "../errors/error.js";
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "./base64.js";
import { concatBytes, equalBytes } from "./bytes.js";
import { decodeHex, encodeHex } from "./hex.js";
import * as nodeSha256 from "./sha256-node.js";
import * as portableSha256 from "./sha256-portable.js";

const bytes = fc.uint8Array({ maxLength: 80 });

test("hex, base64 and base64url agree with Node's Buffer both ways", () => {
  fc.assert(
    fc.property(bytes, (data) => {
      const buffer = Buffer.from(data);
      expect(encodeHex(data)).toBe(buffer.toString("hex"));
      expect(encodeBase64(data)).toBe(buffer.toString("base64"));
      expect(encodeBase64Url(data)).toBe(buffer.toString("base64url"));
      expect(decodeHex(encodeHex(data).toUpperCase())).toEqual(data);
      expect(decodeBase64(encodeBase64(data))).toEqual(data);
      expect(decodeBase64Url(encodeBase64Url(data))).toEqual(data);
    }),
  );
});

function outcome(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return isCountersignError(error) ? error.code : "crash";
  }
}

test("a text that decodes is the only text of its bytes", () => {
  const text = fc.string({ unit: fc.constantFrom(..."AQgwZ/+-_= \n9é"), maxLength: 9 });
  fc.assert(
    fc.property(text, (candidate) => {
      for (const [decode, encode] of [
        [decodeBase64, encodeBase64],
        [decodeBase64Url, encodeBase64Url],
      ] as const) {
        expect([candidate, "ERR_BYTES_BASE64"]).toContain(outcome(() => encode(decode(candidate))));
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["0g", 1],
  ["0", 0],
  ["0x00", 1],
  ["é0", 0],
])("hex %j is refused at character %i", (text, offset) => {
  expect(() => decodeHex(text)).toThrow(
    expect.objectContaining({ code: "ERR_BYTES_HEX", facts: { offset } }),
  );
});

test.each([
  ["QQ", 2],
  ["QR==", 1],
  ["Q===", 1],
  ["QQ=A", 2],
  ["Q-==", 1],
  ["====", 0],
])("base64 %j is refused at character %i", (text, offset) => {
  expect(() => decodeBase64(text)).toThrow(
    expect.objectContaining({ code: "ERR_BYTES_BASE64", facts: { offset } }),
  );
});

test("bytes are equal exactly when length and every byte agree", () => {
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      expect(equalBytes(left, right)).toBe(Buffer.compare(left, right) === 0);
      expect(equalBytes(left, left.slice())).toBe(true);
      expect(encodeHex(concatBytes(left, right))).toBe(encodeHex(left) + encodeHex(right));
    }),
  );
});

// FIPS 180-2 appendix B.1 and B.2, and the empty message.
test.each([
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
])("both SHA-256 implementations hash %j as published", (text, digest) => {
  const data = new TextEncoder().encode(text);
  for (const { sha256, sha256Hex } of [nodeSha256, portableSha256]) {
    expect(sha256Hex(text)).toBe(digest);
    expect(sha256Hex(data)).toBe(digest);
    expect(encodeHex(sha256(text))).toBe(digest);
    expect(sha256(data)).toBeInstanceOf(Uint8Array);
  }
});
