import { canonicalJson } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DraftRows } from "../log/draft-rows.js";
import { columnValues } from "../query/columns.js";
import { signGroup } from "../sign/sign-group.js";
import { quickParseEntry } from "../sqlite/quick-parse-entry.js";
import { draftOf } from "../testing/drafts.js";
import { entryOf } from "../testing/segment.js";
import { decodeEntry, decodeEntryTexts } from "./decode-entry.js";
import { encodeReceiptBody } from "../receipt/encode-receipt.js";
import type { HashedDraft } from "./draft.js";
import { encodeEntry } from "./encode-entry.js";
import type { LogEntry } from "./entry.js";
import { matchPlainEntry } from "./plain-entry.js";
import { matchPlainParts } from "./plain-parts.js";

const SEQ = 12;
const plain = fc.string({ unit: fc.constantFrom(..."ab7/.:{}[],_ "), maxLength: 12 });
const odd = fc.string({ unit: fc.constantFrom(...'a"\\é\n\u0000\u2028😀,:{}'), maxLength: 12 });
const trick = fc.constantFrom('","direction":"inbound', ',"seq":12');
const name = fc.option(fc.oneof({ weight: 8, arbitrary: plain }, odd, trick), { nil: undefined });
const drafts = fc
  .record({
    number: fc.nat(60),
    principal: name,
    client_address: name,
    tool: name,
    path: name,
    thread_id: name,
    emitted_hash: fc.constantFrom(undefined, "12".repeat(32)),
    further_rules: fc.constantFrom(undefined, undefined, ["one", "mode"]),
  })
  .map(({ number, ...members }): HashedDraft => {
    const { receipt, direction, mode, policy_hash, received_at = 0 } = draftOf(number);
    const given = Object.entries(members).filter(([, value]) => value !== undefined);
    return {
      receipt,
      direction,
      mode,
      policy_hash,
      received_at,
      ...Object.fromEntries(given),
    } as HashedDraft;
  });

/** The bytes that a signing thread writes, with the key and the signature of `entryOf`. */
function signedBytes(draft: HashedDraft): Uint8Array {
  const rows = new DraftRows();
  rows.addAll([draft], 0);
  const request = { ...rows.take(), count: 1, first: SEQ, mode: "each", singles: [] } as const;
  const sign = (signature: Uint8Array): void => void signature.fill(1);
  const { records } = signGroup(request, { kernelKey: `ed25519:${"ab".repeat(32)}`, sign });
  return records.subarray(2);
}

test("generated entries read the same by every encoder, decoder and pattern", () => {
  let plainEntries = 0;
  fc.assert(
    fc.property(drafts, (draft) => {
      const entry: LogEntry = entryOf(SEQ, draft);
      const bytes = encodeEntry(entry);
      const text = new TextDecoder().decode(bytes);
      expect(text).toBe(canonicalJson(entry));
      expect(new TextDecoder().decode(signedBytes(draft))).toBe(text);
      expect(decodeEntry(bytes)).toEqual(entry);
      const { bodyText, receiptBytes } = decodeEntryTexts(bytes);
      const { signature: _, ...body } = entry.receipt;
      expect(bodyText).toBe(encodeReceiptBody(body));
      expect(JSON.parse(new TextDecoder().decode(receiptBytes))).toEqual(entry.receipt);
      const match = matchPlainEntry(text);
      expect(matchPlainParts(text) === undefined).toBe(match === undefined);
      plainEntries += match === undefined ? 0 : 1;
      expect(match ?? entry).toEqual(entry);
      const quick = quickParseEntry(Buffer.from(bytes).toString("latin1"), 0, bytes.length, SEQ);
      expect(quick).toMatchObject({ id: entry.receipt.id, receivedAt: entry.received_at });
    }),
    { numRuns: 1_500 },
  );
  expect(plainEntries).toBeGreaterThan(50);
});

test("entries that differ in one of the members are of different kinds", () => {
  const base = entryOf(SEQ, draftOf(2));
  const kindOf = (entry: LogEntry): string | undefined => {
    const bytes = encodeEntry(entry);
    return quickParseEntry(Buffer.from(bytes).toString("latin1"), 0, bytes.length, SEQ)?.kind;
  };
  for (const member of ["principal", "client_address", "tool", "path"] as const) {
    const [one, other, without] = [
      { ...base, [member]: "a" },
      { ...base, [member]: "b" },
      { ...base },
    ];
    delete without[member];
    const kinds = [one, other, without].map(kindOf);
    expect(new Set(kinds).size).toBe(3);
    expect(columnValues(one)).not.toEqual(columnValues(other));
  }
});

test("members that are not text are refused", () => {
  const entry = entryOf(SEQ, draftOf(2));
  for (const member of ["principal", "client_address", "tool", "path"]) {
    const text = canonicalJson({ ...entry, [member]: 5 });
    expect(() => decodeEntry(new TextEncoder().encode(text))).toThrow(
      expect.objectContaining({ code: "ERR_ENTRY_MALFORMED" }),
    );
    const rows = new DraftRows();
    expect(() => rows.addAll([{ ...draftOf(2), [member]: 5 } as never], 0)).toThrow(
      expect.objectContaining({ code: "ERR_RECEIPT_MALFORMED" }),
    );
  }
});
