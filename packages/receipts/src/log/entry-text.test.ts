import * as fc from "fast-check";
import { expect, test } from "vitest";
import { draftOf } from "../testing/drafts.js";
import { settleDraft } from "./draft.js";
import type { TimedDraft } from "./draft.js";
import { DraftLines } from "./entry-text.js";

const KEYS = [`ed25519:${"ab".repeat(32)}`, `ed25519:${"cd".repeat(32)}`];

function alone(draft: TimedDraft, key: string): string {
  const lines = new DraftLines();
  lines.add(draft, key);
  return Buffer.from(lines.take()).toString();
}

test("a draft is written the same behind any others as alone, in any room", () => {
  const member = fc.constantFrom("a", "b", 'quo"ted', "é\u2028", "line\nfeed", "x".repeat(300));
  const change = fc.record({
    number: fc.nat(30),
    agent_id: member,
    capability_id: member,
    session_id: member,
    key: fc.constantFrom(...KEYS),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(5_000), (changes, room) => {
      const lines = new DraftLines(room);
      let expected = "";
      for (const { number, key, ...members } of changes) {
        const { receipt, ...rest } = draftOf(number);
        const draft = settleDraft({ ...rest, receipt: { ...receipt, ...members } }, Date.now);
        lines.add(draft, key);
        expected += alone(draft, key);
      }
      expect(Buffer.from(lines.take()).toString()).toBe(expected);
    }),
    { numRuns: 200 },
  );
});

test("a caller that changes its object and appends it again is not taken at its old word", () => {
  const draft = draftOf(1) as { receipt: { allowed: boolean; denial_reason?: string } };
  const settled = (): TimedDraft => settleDraft(draft as never, Date.now);
  const lines = new DraftLines();
  lines.add(settled(), KEYS[0] as string);
  draft.receipt.allowed = false;
  draft.receipt.denial_reason = "because";
  lines.add(settled(), KEYS[0] as string);
  const text = Buffer.from(lines.take()).toString();
  expect(text.match(/"allowed":(?:true|false)/g)).toEqual(['"allowed":true', '"allowed":false']);
});

test("after a draft that was refused the next one is written whole", () => {
  const lines = new DraftLines();
  const good = settleDraft(draftOf(2), Date.now);
  const refused = settleDraft(
    { ...draftOf(2), policy_hash: "aa".repeat(32), thread_id: "\ud800" },
    Date.now,
  );
  const key = KEYS[0] as string;
  expect(() => lines.add(refused, key)).toThrow("lone surrogate");
  lines.add(good, key);
  expect(() => lines.add(refused, key)).toThrow("lone surrogate");
  lines.add({ ...good, policy_hash: "aa".repeat(32) }, key);
  expect(Buffer.from(lines.take()).toString()).toBe(
    alone(good, key) + alone({ ...good, policy_hash: "aa".repeat(32) }, key),
  );
});
