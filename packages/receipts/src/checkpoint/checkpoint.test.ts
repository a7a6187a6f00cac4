import { decodeHex, isCountersignError } from "@countersign/core";
import { createSigner, generateKey, importPrivateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_ROOT } from "../merkle/hash.js";
import { signNote } from "../note/sign-note.js";
import { createNoteKey, encodeVkey, parseVkey } from "../note/vkey.js";
import { encodeCheckpoint, parseCheckpoint } from "./checkpoint.js";
import type { Checkpoint } from "./checkpoint.js";
import { signCheckpoint } from "./sign-checkpoint.js";
import { openCheckpoint } from "./verify-checkpoint.js";

const VKEY = "gw.example.com/log1+f76839f9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
const NOTE = `gw.example.com/log1
8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

— gw.example.com/log1 92g5+cJsAyjtGjRkXZCXuGzuWfuZ9PRpf2fq7QAFDmEZfHxvGxOoxZrheHjaKJghnfd7jqYRRnSUyDwKHWivpf8kfgk=
`;
const ROOT = decodeHex("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
const signer = createSigner(importPrivateKey(new Uint8Array(32).fill(7)));

test("the example checkpoint is written byte by byte and opens under its vkey", async () => {
  const checkpoint = { origin: "gw.example.com/log1", size: 8, root: ROOT };
  expect(await signCheckpoint(checkpoint, signer)).toBe(NOTE);
  expect(encodeVkey(createNoteKey(checkpoint.origin, signer.publicKey))).toBe(VKEY);
  const opened = await openCheckpoint(NOTE, [parseVkey(VKEY)], verifyEd25519);
  expect({ origin: opened.origin, size: opened.size }).toEqual({
    origin: "gw.example.com/log1",
    size: 8,
  });
  expect(opened.root).toEqual(ROOT);
});

test("the empty tree has size 0 and the hash of nothing", () => {
  expect(encodeCheckpoint({ origin: "a", size: 0, root: EMPTY_ROOT })).toBe(
    "a\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
  );
});

test("extension lines are allowed and do not change what is read", () => {
  const text = `${encodeCheckpoint({ origin: "a", size: 8, root: ROOT })}extension\n`;
  expect(parseCheckpoint(text).size).toBe(8);
});

test("a text that is not origin, size and root is refused with its line", () => {
  const root = "XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=";
  const cases: [string, number][] = [
    [`a\n8\n${root}`, 0],
    ["a\n8\n", 2],
    [`a\n08\n${root}\n`, 2],
    [`a\n-1\n${root}\n`, 2],
    [`a\n9007199254740992\n${root}\n`, 2],
    ["a\n8\nAAAA\n", 3],
    [`a\n8\n!${root.slice(1)}\n`, 3],
    [`\n8\n${root}\n`, 1],
    [`a\n8\n${root}\n\n`, 4],
  ];
  for (const [text, line] of cases) {
    let found: unknown;
    try {
      parseCheckpoint(text);
    } catch (error) {
      found = isCountersignError(error, "ERR_CHECKPOINT_MALFORMED") ? error.facts.line : error;
    }
    expect(found).toBe(line);
  }
});

/** The returned value or the thrown error of a function. */
function attempt(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test("a checkpoint that is read is written again as the same text, and the other way round", () => {
  const origin = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.webPath(), fc.domain());
  const root = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(origin, fc.maxSafeNat(), root, (name, size, hash) => {
      const text = `${name}\n${size}\n${Buffer.from(hash).toString("base64")}\n`;
      const written = attempt(() => encodeCheckpoint({ origin: name, size, root: hash }));
      const read = attempt(() => parseCheckpoint(text));
      expect(isCountersignError(written)).toBe(false);
      expect(typeof written === "string" ? written : "malformed").toBe(
        isCountersignError(read, "ERR_CHECKPOINT_MALFORMED")
          ? "malformed"
          : encodeCheckpoint(read as Checkpoint),
      );
    }),
    { numRuns: 1000 },
  );
});

test("encoding a checkpoint that no reader would accept is a caller's mistake", () => {
  const sound = { origin: "a", size: 8, root: ROOT };
  for (const wrong of [
    { origin: "a b" },
    { origin: "" },
    { size: -1 },
    { size: 0.5 },
    { root: ROOT.subarray(1) },
  ]) {
    expect(() => encodeCheckpoint({ ...sound, ...wrong })).toThrow(TypeError);
  }
});

test("a checkpoint that only another name signed is not the log's", async () => {
  const witness = createSigner(generateKey());
  const text = encodeCheckpoint({ origin: "log.example", size: 8, root: ROOT });
  const note = await signNote("witness.example", text, witness);
  const key = createNoteKey("witness.example", witness.publicKey);
  await expect(openCheckpoint(note, [key], verifyEd25519)).rejects.toMatchObject({
    code: "ERR_NOTE_UNVERIFIED",
  });
});
