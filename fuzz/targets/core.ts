import {
  canonicalJson,
  createJsonSequence,
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
  parseJson,
  writeJson,
} from "@countersign/core";
import { importPublicKeyPem } from "../../packages/core/src/ed25519/public-key.js";
import { encodePem } from "../../packages/core/src/ed25519/encoding.js";
import { parseReporting } from "../../packages/core/src/json/reporting-parser.js";
import { isProvablyStrict } from "../../packages/core/src/json/strict-proof.js";
import { attempt, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const JSON_WORDS = ["{", "}", "[", "]", ":", ",", '"', "\\", "\\u00", "\\uD83D", "\\uDE00", "e+"];
const LIMITS = { maxDepth: 16, maxValues: 200, maxBytes: 2048 };

/** What `JSON.parse` says; undefined when it refuses. */
function laxly(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

export const CORE_TARGETS: readonly FuzzTarget[] = [
  {
    name: "json",
    property:
      "strict JSON agrees with JSON.parse on what it accepts, with its own slow parser on everything, and survives a round trip",
    covers: [
      "packages/core/src/json/parse.ts#parseJson",
      "packages/core/src/json/reporting-parser.ts#parseReporting",
      "packages/core/src/json/utf8.ts#decodeUtf8",
    ],
    dictionary: JSON_WORDS,
    seeds: [
      '{"a":[1,-0.5e+3,true,null,"\\u00e9\\ud83d\\ude00\\n"],"b":{}}',
      '{"a":1,"a":2}',
      '"\\ud800"',
      "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
      "9007199254740993",
      '{"__proto__":{"x":1}}',
      new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]),
    ],
    run(input) {
      const strict = attempt(() => parseJson(input, LIMITS));
      const text = textOf(input);
      if (strict.ok) {
        const lax = laxly(text);
        hold(lax !== undefined, "what strict JSON accepts is JSON");
        holdEqual(strict.value, lax.value, "the value is the one that JSON.parse reads");
        const canonical = canonicalJson(strict.value);
        holdEqual(
          canonicalJson(parseJson(canonical)),
          canonical,
          "canonical JSON is a fixed point",
        );
        holdEqual(parseJson(writeJson(strict.value)), strict.value, "writing and reading is exact");
      }
      // The quick way may only say yes where the slow way does: the same outcome by both.
      const isText = new TextEncoder().encode(text).length === input.length;
      if (isText && text.charCodeAt(0) !== 0xfeff && isProvablyStrict(text, 16, 200)) {
        const slow = attempt(() => parseReporting(text, 16, 200));
        hold(slow.ok === (laxly(text) !== undefined), "the quick proof and the slow parser agree");
      }
    },
  },
  {
    name: "json-sequence",
    property: "a text reads the same alone and after others that resemble it",
    covers: ["packages/core/src/json/sequence.ts#createJsonSequence"],
    dictionary: [...JSON_WORDS, '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"', '"}\n'],
    seeds: [
      '{"a":"1"}\n{"a":"2"}\n{"a":"3"}\n{"a":"\u0007"}\n',
      '{"b":1,"a":"x"}\n{"b":1,"a":"y"}\n{"b":1,"a":"z","b":2}',
    ],
    run(input) {
      const sequence = createJsonSequence(LIMITS);
      for (const text of textOf(input).split("\n")) {
        const inOrder = attempt(() => sequence.parse(text));
        const alone = attempt(() => parseJson(text, LIMITS));
        holdEqual(inOrder, alone, "a text reads the same alone and after others");
      }
    },
  },
  {
    name: "encodings",
    property: "base64, base64url, hex and PEM accept one spelling of each value",
    covers: [
      "packages/core/src/bytes/base64.ts#decodeBase64",
      "packages/core/src/bytes/base64.ts#decodeBase64Url",
      "packages/core/src/bytes/hex.ts#decodeHex",
      "packages/core/src/ed25519/encoding.ts#decodePem",
      "packages/core/src/ed25519/public-key.ts#importPublicKeyPem",
    ],
    dictionary: [
      "=",
      "==",
      "-----BEGIN PUBLIC KEY-----\n",
      "\n-----END PUBLIC KEY-----\n",
      "ed25519:",
    ],
    seeds: ["AAEC", "AAE=", "_-8", "00ff", encodePem("PUBLIC KEY", new Uint8Array(32).fill(7))],
    run(input) {
      const text = textOf(input);
      const base64 = attempt(() => decodeBase64(text));
      if (base64.ok) holdEqual(encodeBase64(base64.value), text, "base64 has one spelling");
      const url = attempt(() => decodeBase64Url(text));
      if (url.ok) holdEqual(encodeBase64Url(url.value), text, "base64url has one spelling");
      const hex = attempt(() => decodeHex(text));
      if (hex.ok) holdEqual(encodeHex(hex.value), text.toLowerCase(), "hex has one spelling");
      const key = attempt(() => importPublicKeyPem(text));
      if (key.ok) hold(key.value.length === 32, "a key has 32 bytes");
    },
  },
];
