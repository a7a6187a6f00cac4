import { canonicalJson, encodeHex, isCountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEntry, decodeEntryTexts } from "../entry/decode-entry.js";
import { encodeEntry } from "../entry/encode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import { matchPlainEntry } from "../entry/plain-entry.js";
import { assertReceipt, assertReceivedReceipt } from "./check-receipt.js";
import { encodeReceipt, encodeReceiptBody, receiptBody } from "./encode-receipt.js";
import { eventPayload, payloadHash } from "./payload.js";
import type { AgUiReceipt } from "./receipt.js";
import { NO_CAPABILITY, RECEIPT_CLASSIFICATIONS, RECEIPT_EVENT_TYPES } from "./receipt.js";

const text = fc
  .string({ unit: "grapheme", maxLength: 20 })
  .filter((value) => !/\p{Surrogate}/u.test(value));
const hex = fc.string({
  unit: fc.constantFrom(..."0123456789abcdef"),
  minLength: 64,
  maxLength: 64,
});
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const receipts: fc.Arbitrary<AgUiReceipt> = fc
  .record({
    id: text,
    timestamp: fc.maxSafeNat(),
    event_id: text,
    agent_id: text,
    session_id: maybe(text),
    capability_id: fc.oneof(fc.constant(NO_CAPABILITY), text),
    event_type: fc.oneof(
      fc.constantFrom(...RECEIPT_EVENT_TYPES),
      text.map((custom) => ({ custom })),
    ),
    target: maybe(
      fc
        .record({ component_type: text, component_id: maybe(text) })
        .map((target) => JSON.parse(JSON.stringify(target)) as JsonObject),
    ),
    classification: fc.constantFrom(...RECEIPT_CLASSIFICATIONS),
    transport: fc.constantFrom("sse", "websocket"),
    denial_reason: maybe(text),
    payload_hash: hex,
    kernel_key: hex.map((key) => `ed25519:${key}`),
    signature: text,
  })
  .map(
    ({ denial_reason, ...rest }) =>
      JSON.parse(
        JSON.stringify({ ...rest, denial_reason, allowed: denial_reason === undefined }),
      ) as AgUiReceipt,
  );

const entries: fc.Arbitrary<LogEntry> = fc
  .record({
    seq: fc.maxSafeNat(),
    receipt: receipts,
    direction: fc.constantFrom("outbound", "inbound"),
    run_id: maybe(text),
    thread_id: maybe(text),
    policy_hash: hex,
    mode: fc.constantFrom("enforce", "observe"),
    rule: maybe(text),
    further_rules: maybe(fc.array(text, { minLength: 1, maxLength: 16 })),
    received_at: fc.maxSafeNat(),
    emitted_hash: maybe(hex),
  })
  .map((entry) => JSON.parse(JSON.stringify(entry)) as LogEntry);

const codeOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (isCountersignError(error)) return error.code;
    throw error;
  }
  return undefined;
};

const sample: LogEntry = {
  seq: 3,
  receipt: {
    id: "agui-evt_1",
    timestamp: 1_744_993_928,
    event_id: "evt_1",
    agent_id: "agent-support",
    capability_id: NO_CAPABILITY,
    event_type: "form_action",
    classification: "submit",
    transport: "sse",
    allowed: false,
    denial_reason: "capability required for Submit events",
    payload_hash: "0".repeat(64),
    kernel_key: `ed25519:${"0".repeat(64)}`,
    signature: `ed25519:${"0".repeat(128)}`,
  },
  direction: "outbound",
  policy_hash: "0".repeat(64),
  mode: "enforce",
  received_at: 1_744_993_928_123,
};

test("the template encoder writes what the general canonical encoder writes", () => {
  fc.assert(
    fc.property(receipts, (receipt) => {
      assertReceipt(receipt);
      const { signature: _, ...body } = receipt;
      expect(encodeReceipt(receipt)).toBe(canonicalJson(receipt));
      expect(encodeReceiptBody(receipt)).toBe(canonicalJson(body));
      expect(receiptBody(body)).toEqual(new TextEncoder().encode(canonicalJson(body)));
    }),
    { numRuns: 300 },
  );
});

test("an entry is canonical JSON and decodes to itself", () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const bytes = encodeEntry(entry);
      expect(new TextDecoder().decode(bytes)).toBe(canonicalJson(entry));
      expect(decodeEntry(bytes)).toEqual(entry);
      const receiptBytes = new TextEncoder().encode(encodeReceipt(entry.receipt));
      const bodyText = encodeReceiptBody(entry.receipt);
      const { signature } = entry.receipt;
      const isPlain = JSON.stringify(signature) === `"${signature}"`;
      const decoded = decodeEntryTexts(bytes);
      expect(decoded.entry).toEqual(entry);
      expect(encodeHex(decoded.receiptBytes)).toBe(encodeHex(receiptBytes));
      expect(!isPlain || decoded.bodyText === bodyText).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("the fast entry decoder returns what the general one returns, or nothing", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."ab {}[]:,0'/é\"\\\\"), maxLength: 8 });
  const changed = fc.record({
    entry: entries,
    rule: plain,
    at: fc.nat(),
    bit: fc.integer({ min: 0, max: 6 }),
  });
  fc.assert(
    fc.property(changed, ({ entry, rule, at, bit }) => {
      const value = { ...entry, rule };
      const bytes = encodeEntry(value);
      expect([value, undefined]).toContainEqual(matchPlainEntry(new TextDecoder().decode(bytes)));
      bytes[at % bytes.length]! ^= 1 << bit;
      const text = new TextDecoder().decode(bytes);
      const found = matchPlainEntry(text);
      const parsed = found === undefined ? undefined : parseJson(text);
      expect(found).toEqual(parsed);
      expect(found === undefined || canonicalJson(found) === text).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(matchPlainEntry(canonicalJson(sample))).toEqual(sample);
  for (const number of ["01", "-1", "1.0", "1e3", "9007199254740992"]) {
    expect(matchPlainEntry(canonicalJson(sample).replace('"seq":3', `"seq":${number}`))).toBe(
      undefined,
    );
  }
});

test("text that has no canonical form and numbers that are not whole are refused", () => {
  const lone = { ...sample.receipt, agent_id: "\ud800" };
  expect(codeOf(() => encodeReceipt(lone))).toBe("ERR_RECEIPT_MALFORMED");
  for (const timestamp of [-1, 1.5, Number.NaN, 2 ** 53]) {
    expect(codeOf(() => encodeReceipt({ ...sample.receipt, timestamp }))).toBe(
      "ERR_RECEIPT_MALFORMED",
    );
  }
  expect(encodeReceipt({ ...sample.receipt, timestamp: -0 })).toContain('"timestamp":0,');
});

test("an entry of exactly 65,535 bytes is accepted and one byte more is not", () => {
  const room = 65_535 - encodeEntry({ ...sample, rule: "" }).length;
  const largest = encodeEntry({ ...sample, rule: "x".repeat(room) });
  expect(largest.length).toBe(65_535);
  expect(decodeEntry(largest).rule?.length).toBe(room);
  expect(codeOf(() => encodeEntry({ ...sample, rule: "x".repeat(room + 1) }))).toBe(
    "ERR_ENTRY_TOO_LARGE",
  );
  expect(codeOf(() => decodeEntry(new Uint8Array(65_536)))).toBe("ERR_ENTRY_TOO_LARGE");
});

test("leaf bytes other than the canonical encoding of an entry are refused", () => {
  const decode = (value: string) => codeOf(() => decodeEntry(new TextEncoder().encode(value)));
  const good = canonicalJson(sample);
  expect(decode(good)).toBeUndefined();
  expect(decode("not JSON")).toBe("ERR_ENTRY_MALFORMED");
  expect(decode("[]")).toBe("ERR_ENTRY_MALFORMED");
  expect(decode(` ${good}`)).toBe("ERR_ENTRY_MALFORMED");
  expect(decode(good.replace('{"direction"', '{"direction":"inbound","direction"'))).toBe(
    "ERR_ENTRY_MALFORMED",
  );
  expect(decode(JSON.stringify(sample))).toBe("ERR_ENTRY_MALFORMED");
  expect(codeOf(() => decodeEntry(Uint8Array.of(0xff)))).toBe("ERR_ENTRY_MALFORMED");
});

test("an entry with a member of the wrong type, or one too many, is refused", () => {
  const changed = (change: JsonObject) =>
    codeOf(() =>
      decodeEntry(new TextEncoder().encode(canonicalJson({ ...sample, ...change } as JsonValue))),
    );
  const changes: JsonObject[] = [
    { seq: -1 },
    { seq: "3" },
    { direction: "sideways" },
    { mode: "off" },
    { policy_hash: 1 },
    { run_id: 1 },
    { rule: null },
    { received_at: 1.5 },
    { emitted_hash: "abc" },
    { further_rules: [] },
    { further_rules: ["a", 1] },
    { further_rules: Array.from({ length: 17 }, () => "a") },
    { further_rules: "a" },
    { payload: {} },
  ];
  for (const change of changes) expect(changed(change)).toBe("ERR_ENTRY_MALFORMED");
  expect(changed({ receipt: null })).toBe("ERR_RECEIPT_MALFORMED");
  expect(changed({ receipt: { ...sample.receipt, extra: 1 } })).toBe("ERR_RECEIPT_MALFORMED");
});

test("a receipt with a member missing, of the wrong type or out of vocabulary is refused", () => {
  const changes: JsonObject[] = [
    { id: 1 },
    { timestamp: "now" },
    { event_type: "dance" },
    { event_type: { custom: 1 } },
    { event_type: { custom: "a", more: 1 } },
    { classification: "paint" },
    { transport: "pigeon" },
    { allowed: "yes" },
    { allowed: true },
    { payload_hash: "AB" },
    { session_id: null },
    { target: "modal" },
    { target: { component_id: "a" } },
    { signature: 1 },
  ];
  for (const change of changes) {
    const value: JsonValue = { ...sample.receipt, ...change };
    expect(codeOf(() => assertReceipt(value))).toBe("ERR_RECEIPT_MALFORMED");
    expect(codeOf(() => assertReceivedReceipt(value))).toBe("ERR_RECEIPT_MALFORMED");
  }
  const { allowed: _, ...without } = sample.receipt;
  expect(codeOf(() => assertReceipt(without))).toBe("ERR_RECEIPT_MALFORMED");
});

test("Chio's encodings are read and never written", () => {
  const foreign: JsonObject[] = [
    { transport: "web_socket" },
    { event_type: 'custom("clipboard-copy")' },
    { extra: 1 },
    { target: { component_type: "modal", extra: 1 } },
  ];
  for (const change of foreign) {
    const value: JsonValue = { ...sample.receipt, ...change };
    expect(codeOf(() => assertReceivedReceipt(value))).toBeUndefined();
    expect(codeOf(() => assertReceipt(value))).toBe("ERR_RECEIPT_MALFORMED");
  }
});

test("payload hashes are the published ones, of the envelope's payload or the native event", () => {
  expect(payloadHash({ text: "hello" })).toBe(
    "cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176",
  );
  expect(payloadHash(null)).toBe(
    "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
  );
  expect(payloadHash({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  expect(eventPayload({ event_id: "evt_1", payload: { a: 1 } })).toEqual({ a: 1 });
  const native = { type: "CUSTOM", name: "x", value: 1 };
  expect(eventPayload(native)).toBe(native);
});
