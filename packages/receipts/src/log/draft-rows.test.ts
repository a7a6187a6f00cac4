import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import type { SignedGroup } from "../sign/group.js";
import { signGroup } from "../sign/sign-group.js";
import { draftOf } from "../testing/drafts.js";
import { DraftRows, SIGNATURE_ALLOWANCE } from "./draft-rows.js";
import type { EntryDraft } from "../entry/draft.js";

const KEY = { kernelKey: `ed25519:${"ab".repeat(32)}`, sign: () => undefined };

function signed(rows: DraftRows, count: number): SignedGroup {
  return signGroup({ ...rows.take(), count, first: 5, mode: "each", singles: [] }, KEY);
}

const NOW = 1;

function textsOf({ records, places }: SignedGroup): string[] {
  return Array.from({ length: places.length / 2 }, (_, index) => {
    const start = index === 0 ? 0 : (places[index * 2 - 1] as number);
    const text = Buffer.from(records.subarray(start + 2, places[index * 2 + 1])).toString();
    return text.replace(/"signature":"[^"]*"/, "").replace(/"seq":\d+/, "");
  });
}

function alone(draft: EntryDraft): string | undefined {
  const rows = new DraftRows();
  rows.addAll([draft], NOW);
  return textsOf(signed(rows, 1))[0];
}

test("a draft is written the same after any others as alone", () => {
  const member = fc.constantFrom("a", "b", 'quo"ted', "é\u2028", "line\nfeed", "x".repeat(300));
  const change = fc.record({
    number: fc.nat(30),
    event_id: fc.option(member, { nil: undefined, freq: 1 }),
    agent_id: member,
    capability_id: member,
    session_id: fc.option(member, { nil: undefined }),
    thread_id: fc.option(member, { nil: undefined }),
    rule: fc.option(member, { nil: undefined }),
    principal: fc.option(member, { nil: undefined }),
    client_address: fc.option(member, { nil: undefined }),
    tool: fc.option(member, { nil: undefined }),
    path: fc.option(member, { nil: undefined }),
    further_rules: fc.option(fc.array(member, { minLength: 1, maxLength: 3 }), { nil: undefined }),
    custom: fc.option(member, { nil: undefined }),
    payload_text: fc.option(fc.constantFrom("{}", '"é"', '{"a":1}', ""), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 30 }), (changes) => {
      const drafts = changes.map((one): EntryDraft => {
        const sample = draftOf(one.number);
        const { receipt, direction, mode, policy_hash, received_at = 0, run_id = "" } = sample;
        const rest = { direction, mode, policy_hash, received_at, run_id };
        const { payload_hash, session_id: ___, ...members } = receipt;
        const common = {
          ...rest,
          ...(one.rule === undefined ? {} : { rule: one.rule }),
          ...(one.further_rules === undefined ? {} : { further_rules: one.further_rules }),
          ...(one.thread_id === undefined ? {} : { thread_id: one.thread_id }),
          ...Object.fromEntries(
            (["principal", "client_address", "tool", "path"] as const).flatMap((name) =>
              one[name] === undefined ? [] : [[name, one[name]]],
            ),
          ),
        };
        const parts = {
          ...members,
          ...(one.event_id === undefined ? {} : { event_id: one.event_id }),
          agent_id: one.agent_id,
          capability_id: one.capability_id,
          ...(one.session_id === undefined ? {} : { session_id: one.session_id }),
          ...(one.custom === undefined ? {} : { event_type: { custom: one.custom } }),
        };
        return one.payload_text === undefined
          ? { ...common, receipt: { ...parts, payload_hash } }
          : { ...common, receipt: parts, payload_text: one.payload_text };
      });
      const rows = new DraftRows();
      rows.addAll(drafts, NOW);
      expect(textsOf(signed(rows, drafts.length))).toEqual(drafts.map(alone));
    }),
    { numRuns: 200 },
  );
});

test("a caller that changes its object and appends it again is written with its new values", () => {
  const draft = draftOf(1) as {
    receipt: { allowed: boolean; denial_reason?: string; event_type: unknown };
  };
  const type = { custom: "one" };
  draft.receipt.event_type = type;
  const rows = new DraftRows();
  rows.addAll([draft as EntryDraft], NOW);
  draft.receipt.allowed = false;
  draft.receipt.denial_reason = "because";
  type.custom = "two";
  rows.addAll([draft as EntryDraft], NOW);
  const text = textsOf(signed(rows, 2)).join("");
  expect(text.match(/"allowed":(?:true|false)/g)).toEqual(['"allowed":true', '"allowed":false']);
  expect(text.match(/"custom":"\w+"/g)).toEqual(['"custom":"one"', '"custom":"two"']);
});

test("among drafts with ordinary ids, hashes that look ordinary only when joined are refused", () => {
  const hashed = (payload_hash: unknown): EntryDraft =>
    ({ ...draftOf(2), receipt: { ...draftOf(2).receipt, payload_hash } }) as EntryDraft;
  const rows = new DraftRows();
  const uneven = [hashed("ab".repeat(31)), hashed("ab".repeat(33))];
  const listed = [draftOf(1), hashed(Array.from({ length: 64 }, () => "a"))];
  const capital = [draftOf(1), hashed("AB".repeat(32)), draftOf(3)];
  for (const drafts of [uneven, listed, capital]) {
    expect(() => rows.addAll(drafts, NOW)).toThrow("payload_hash");
  }
  rows.addAll([draftOf(2)], NOW);
  expect(textsOf(signed(rows, 1))).toEqual([alone(draftOf(2))]);
});

test("after refused drafts the next one is written completely", () => {
  const rows = new DraftRows();
  const good = draftOf(2);
  const other = { ...good, policy_hash: "aa".repeat(32) };
  const refused = { ...other, thread_id: "\ud800" };
  expect(() => rows.addAll([other, refused], NOW)).toThrow("lone surrogate");
  rows.addAll([good], NOW);
  expect(() => rows.addAll([other, refused], NOW)).toThrow("lone surrogate");
  rows.addAll([other], NOW);
  expect(textsOf(signed(rows, 2))).toEqual([alone(good), alone(other)]);
});

test.each(["x", "é", "語"])("no accepted draft of %s makes an entry that is too large", (unit) => {
  const width = Buffer.byteLength(unit);
  const limit = MAX_ENTRY_BYTES - SIGNATURE_ALLOWANCE;
  const sizes: (number | string)[] = [];
  for (let length = limit - 1_200; length < limit; length += 40) {
    const draft = draftOf(2, { run_id: unit.repeat(Math.floor(length / width)) });
    const rows = new DraftRows();
    try {
      rows.addAll([draft], NOW);
      sizes.push(signed(rows, 1).records.length);
    } catch (error) {
      sizes.push((error as { code: string }).code);
    }
  }
  const refused = sizes.indexOf("ERR_ENTRY_TOO_LARGE");
  expect(refused).toBeGreaterThan(0);
  expect(new Set(sizes.slice(refused))).toEqual(new Set(["ERR_ENTRY_TOO_LARGE"]));
  expect(Math.max(...sizes.slice(0, refused).map(Number))).toBeLessThan(MAX_ENTRY_BYTES - 1_000);
});

test.each([
  ["agent_id", { agent_id: 5 }],
  ["event_id", { event_id: undefined }],
  ["classification", { classification: "look" }],
  ["event_type", { event_type: "other" }],
  ["allowed", { allowed: "yes" }],
  ["denial_reason", { allowed: false, denial_reason: undefined }],
  ["transport", { transport: "smoke" }],
  ["payload_hash", { payload_hash: "CD".repeat(32) }],
  ["timestamp", { timestamp: -1 }],
])("a draft with a wrong %s is refused by its name", (member, changes) => {
  const draft = { ...draftOf(2), receipt: { ...draftOf(2).receipt, ...changes } };
  const add = (): void => new DraftRows().addAll([draft as EntryDraft], NOW);
  expect(add).toThrow(expect.objectContaining({ code: "ERR_RECEIPT_MALFORMED" }));
  expect(add).toThrow(expect.objectContaining({ facts: expect.objectContaining({ member }) }));
});
