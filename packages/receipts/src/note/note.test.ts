import { encodeBase64, encodeHex, isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import { createSigner, generateKey, importPrivateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeNote, parseNote } from "./note.js";
import { signNote } from "./sign-note.js";
import { verifyNote } from "./verify-note.js";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE, NOTE_ED25519, parseVkey } from "./vkey.js";

const EXAMPLE_VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const EXAMPLE_NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
const WITNESS_VKEY = "witness.example.com/w1+6befd672+BEOnLnFEAXYt9mtowm373yaCquyfJHTspGE+QkoPuv08";
const COSIGNED = `gw.example.com/log1
8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

— gw.example.com/log1 92g5+cJsAyjtGjRkXZCXuGzuWfuZ9PRpf2fq7QAFDmEZfHxvGxOoxZrheHjaKJghnfd7jqYRRnSUyDwKHWivpf8kfgk=
— witness.example.com/w1 a+/WcgAAAABoAn6KeER0+GcGaEufpu6gLiJ7G1oqucd2X92Y3lFyFGB6OExFPWDt8kHE+0bG0WQW6PgdzvB06pC+ls4I2lmHHIqvBQ==
`;

const codeOf = async (run: () => unknown): Promise<ErrorCode | undefined> => {
  try {
    await run();
  } catch (error) {
    if (isCountersignError(error)) return error.code;
    throw error;
  }
  return undefined;
};

test("the published example note verifies under its published vkey", async () => {
  const note = await verifyNote(EXAMPLE_NOTE, [parseVkey(EXAMPLE_VKEY)], verifyEd25519);
  expect(note.text).toBe("This is an example message.\n");
  expect(encodeNote(note)).toBe(EXAMPLE_NOTE);
});

test("a vkey reads back as written, plus signs in its base64 included", () => {
  expect(encodeVkey(parseVkey(EXAMPLE_VKEY))).toBe(EXAMPLE_VKEY);
  expect(encodeVkey(parseVkey(WITNESS_VKEY))).toBe(WITNESS_VKEY);
  expect(encodeHex(parseVkey(EXAMPLE_VKEY).id)).toBe("530d903a");
});

test("a vkey whose id, name, base64, type or length is wrong is refused", async () => {
  for (const vkey of [
    "",
    EXAMPLE_VKEY.replace("530d903a", "530d903b"),
    EXAMPLE_VKEY.replace("example.com/foo", "example.com/bar"),
    EXAMPLE_VKEY.replace("foo", "f oo"),
    EXAMPLE_VKEY.slice(0, -4),
    "example.com/foo+530d903a+/ekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    `${EXAMPLE_VKEY}!`,
  ]) {
    expect(await codeOf(() => parseVkey(vkey))).toBe("ERR_NOTE_KEY");
  }
});

test("a witness's timestamped cosignature verifies beside the log's own signature", async () => {
  const note = await verifyNote(COSIGNED, [parseVkey(WITNESS_VKEY)], verifyEd25519);
  expect(note.signers.map(({ name }) => name)).toEqual(["witness.example.com/w1"]);
  const later = COSIGNED.replace("a+/WcgAAAABoAn6K", "a+/WcgAAAABoAn6L");
  expect(await codeOf(() => verifyNote(later, [parseVkey(WITNESS_VKEY)], verifyEd25519))).toBe(
    "ERR_NOTE_UNVERIFIED",
  );
});

test("a key of the same name but another id counts as unknown, not as a bad signature", async () => {
  const other = createNoteKey("example.com/foo", generateKey().publicKey);
  await expect(verifyNote(EXAMPLE_NOTE, [other], verifyEd25519)).rejects.toMatchObject({
    code: "ERR_NOTE_UNVERIFIED",
    facts: { reason: "unknown-key" },
  });
  const known = [other, parseVkey(EXAMPLE_VKEY)];
  expect((await verifyNote(EXAMPLE_NOTE, known, verifyEd25519)).signers).toEqual([known[1]]);
});

test("one bad signature of a known key invalidates the note, even beside a good one", async () => {
  const signer = createSigner(generateKey());
  const key = createNoteKey("log.example", signer.publicKey);
  const note = parseNote(await signNote("log.example", "text\n", signer));
  const forged = { ...note.signatures[0]!, signature: new Uint8Array(64) };
  const both = encodeNote({ text: note.text, signatures: [...note.signatures, forged] });
  await expect(verifyNote(both, [key], verifyEd25519)).rejects.toMatchObject({
    facts: { reason: "bad-signature" },
  });
});

test("a known key's signature of another length is invalid, for a log and for a witness", async () => {
  const { publicKey } = createSigner(generateKey());
  for (const [type, length] of [
    [NOTE_ED25519, 63],
    [NOTE_ED25519, 72],
    [NOTE_COSIGNATURE, 64],
    [NOTE_COSIGNATURE, 73],
  ] as const) {
    const key = createNoteKey("log.example", publicKey, type);
    const line = { name: key.name, keyId: key.id, signature: new Uint8Array(length) };
    const note = encodeNote({ text: "text\n", signatures: [line] });
    await expect(verifyNote(note, [key], verifyEd25519)).rejects.toMatchObject({
      code: "ERR_NOTE_UNVERIFIED",
      facts: { reason: "bad-signature" },
    });
  }
});

test("a signature line holds a key id and at least one byte; a note, at least one line", async () => {
  const line = (bytes: number): string => `text\n\n— a ${encodeBase64(new Uint8Array(bytes))}\n`;
  expect(parseNote(line(5)).signatures[0]?.signature).toHaveLength(1);
  expect(await codeOf(() => parseNote(line(4)))).toBe("ERR_NOTE_MALFORMED");
  expect(() => encodeNote({ text: "text\n", signatures: [] })).toThrow(TypeError);
});

test("any text without control characters signs, opens again, and not after a changed byte", async () => {
  const signer = createSigner(importPrivateKey(new Uint8Array(32).fill(7)));
  const key = createNoteKey("log.example", signer.publicKey);
  const line = fc
    .string({ unit: "grapheme" })
    .filter((text) => !/[\p{Cc}\p{Surrogate}]/u.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), async (lines) => {
      const text = `x${lines.join("\n")}\n`;
      const note = await signNote("log.example", text, signer);
      expect((await verifyNote(note, [key], verifyEd25519)).text).toBe(text);
      const changed = `y${note.slice(1)}`;
      expect(await codeOf(() => verifyNote(changed, [key], verifyEd25519))).toBe(
        "ERR_NOTE_UNVERIFIED",
      );
    }),
    { numRuns: 50 },
  );
});

test("a text that is not a note is refused with a code", async () => {
  const tail = EXAMPLE_NOTE.slice(EXAMPLE_NOTE.indexOf("—"));
  for (const note of [
    "",
    "text\n",
    "text\n\n",
    `text\u0007\n\n${tail}`,
    `\n\n${tail}`,
    EXAMPLE_NOTE.slice(0, -1),
    EXAMPLE_NOTE.replace("— ", "- "),
    EXAMPLE_NOTE.replace("Uw2Q", "Uw!Q"),
    "text\n\n— a AAAA\n",
    `text\n\n${tail.repeat(65)}`,
    `${"x".repeat(1_000_000)}\n\n${tail}`,
  ]) {
    expect(await codeOf(() => parseNote(note))).toBe("ERR_NOTE_MALFORMED");
  }
  expect(parseNote(`text\n\n${tail.repeat(64)}`).signatures.length).toBe(64);
});

test("a name that could not be read back is a caller's mistake", async () => {
  const signer = createSigner(generateKey());
  for (const name of ["", "a b", "a+b", "a\u2003b", "a\nb"]) {
    await expect(signNote(name, "text\n", signer)).rejects.toThrow(TypeError);
  }
  await expect(signNote("a", "no line feed", signer)).rejects.toThrow(TypeError);
});
