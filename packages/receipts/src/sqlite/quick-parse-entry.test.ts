import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { encodeEntry } from "../entry/encode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import { columnValues } from "../query/columns.js";
import { draftOf } from "../testing/drafts.js";
import { entryOf } from "../testing/segment.js";
import { quickParseEntry } from "./quick-parse-entry.js";
import type { QuickEntry } from "./quick-parse-entry.js";

const SEQ = 4_711;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const BEFORE = "the entry before it";
const textOf = (bytes: Uint8Array): string => `${BEFORE}${Buffer.from(bytes).toString("latin1")}`;
const quickParse = (bytes: Uint8Array, seq = SEQ) => {
  const text = `${textOf(bytes)}${textOf(encodeEntry(entryOf(1, draftOf(1))))}`;
  return quickParseEntry(text, BEFORE.length, BEFORE.length + bytes.length, seq);
};

const odd = fc.string({ unit: fc.constantFrom(...'ab"\\,:{}é\n'), maxLength: 6 });
const entries: fc.Arbitrary<LogEntry> = fc
  .record({ number: fc.nat(200), id: odd, session: odd, rule: odd, run: odd, thread: odd })
  .chain(({ number, id, session, rule, run, thread }) => {
    const entry = entryOf(SEQ, draftOf(number));
    const changes: ((one: LogEntry) => void)[] = [
      (one) => (one.receipt.id = `agui-${id}`),
      (one) => (one.receipt.event_id = id),
      (one) => (one.receipt.session_id = session),
      (one) => (one.receipt.agent_id = session),
      (one) => (one.receipt.event_type = { custom: run }),
      (one) => (one.receipt.target = { component_type: thread, component_id: id }),
      (one) => (one.rule = rule),
      (one) => (one.run_id = run),
      (one) => (one.thread_id = thread),
      (one) => delete one.thread_id,
      (one) => delete one.receipt.session_id,
      (one) => (one.emitted_hash = "12".repeat(32)),
      (one) => (one.further_rules = [rule, "mode", thread]),
      (one) => (one.principal = session),
      (one) => (one.client_address = id),
      (one) => (one.tool = run),
      (one) => (one.path = rule),
      (one) => delete one.principal,
      (one) => delete one.client_address,
    ];
    return fc.subarray(changes).map((chosen) => {
      const copy = structuredClone(entry);
      for (const change of chosen) change(copy);
      return copy;
    });
  });

test("the quick parse returns id and time as decoding does, and one kind means the same columns", () => {
  const glances: [QuickEntry, LogEntry][] = [];
  fc.assert(
    fc.property(entries, (entry) => {
      const quick = quickParse(encodeEntry(entry));
      const { event_id, id } = entry.receipt;
      const isPlain = PLAIN.test(event_id) && PLAIN.test(id);
      expect(quick !== undefined || !isPlain).toBe(true);
      if (quick === undefined) return;
      glances.push([quick, entry]);
    }),
    { numRuns: 2_000 },
  );
  expect(glances.length).toBeGreaterThan(1_000);
  const columns = new Map<string, string>();
  for (const [quick, entry] of glances) {
    expect(quick.id).toBe(entry.receipt.id);
    expect(quick.receivedAt).toBe(entry.received_at);
    const values = JSON.stringify(columnValues(entry));
    expect(columns.get(quick.kind) ?? values).toBe(values);
    columns.set(quick.kind, values);
  }
});

test("members that differ from event to event are not part of the kind", () => {
  const one = entryOf(SEQ, draftOf(1));
  const other = structuredClone(one);
  other.receipt.event_id = "evt_other";
  other.receipt.id = "agui-evt_other";
  other.receipt.payload_hash = "00".repeat(32);
  other.receipt.signature = `ed25519-batch:3/32:${"0f".repeat(64)}:${"A".repeat(215)}`;
  other.receipt.timestamp += 1;
  other.received_at += 1_000_000_000_000;
  other.emitted_hash = "34".repeat(32);
  const kind = quickParse(encodeEntry(one))?.kind;
  expect(kind).toBeDefined();
  expect(quickParse(encodeEntry(other))?.kind).toBe(kind);
});

test("a damaged entry is not mistaken for another kind, and an entry of another number is not parsed", () => {
  const bytes = encodeEntry(entryOf(SEQ, draftOf(2)));
  const kind = quickParse(bytes)?.kind;
  const values = columnValues(decodeEntry(bytes));
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of [1, 4, 64]) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] as number) ^ bit;
      const quick = quickParse(damaged);
      if (quick === undefined || quick.kind !== kind) continue;
      // The same kind: then no member of the kind was changed.
      let entry: LogEntry | undefined;
      try {
        entry = decodeEntry(damaged);
      } catch {
        continue;
      }
      expect(columnValues(entry)).toEqual(values);
      expect(quick.id).toBe(entry.receipt.id);
      expect(quick.receivedAt).toBe(entry.received_at);
    }
  }
  for (let length = 0; length < bytes.length; length += 1) {
    expect(
      quickParseEntry(textOf(bytes.subarray(0, length)), BEFORE.length, BEFORE.length + length, SEQ)
        ?.kind,
    ).not.toBe(kind);
  }
  expect(quickParse(bytes, SEQ + 1)).toBeUndefined();
  expect(quickParse(bytes, 47)?.kind).not.toBe(kind);
});
