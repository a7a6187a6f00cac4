import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { RunAgentInput } from "../model/input.js";
import { officialWire } from "../testing/official-wire.js";
import { ourPipeline } from "../testing/our-pipeline.js";

// Each written difference of decoding and translation (docs/wire/differences.md), shown on both pipelines.
const INPUT: RunAgentInput = { threadId: "t", runId: "r", messages: [], state: {} };
const START = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}';
const FINISH = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}';
const utf8 = new TextEncoder();

beforeAll(() => {
  vi.stubEnv("SUPPRESS_TRANSFORMATION_WARNINGS", "true");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

function frames(...texts: readonly string[]): string {
  return texts.map((text) => `data: ${text}\n\n`).join("");
}

function custom(value: string): string {
  return frames(START, `{"type":"CUSTOM","name":"x","value":${value}}`, FINISH);
}

function both(text: string | Uint8Array): { ours: unknown; official: number | undefined } {
  const bytes = typeof text === "string" ? utf8.encode(text) : text;
  const { failedAt, reason } = ourPipeline(INPUT, [bytes]);
  return {
    ours: failedAt === undefined ? "accepted" : `${reason} at ${failedAt}`,
    official: officialWire([bytes]).failedAt,
  };
}

test.each([
  ["D1: CRLF line endings", custom("1").replaceAll("\n", "\r\n")],
  ["D1: CR line endings", custom("1").replaceAll("\n", "\r")],
])("%s are read here, and refused by the client", (_name, text) => {
  expect(both(text)).toEqual({ ours: "accepted", official: 0 });
});

test("D2: a data field without a colon is a line of data here, and nothing to the client", () => {
  const text = `${frames(START)}data\n\n${frames(FINISH)}`;
  expect(both(text)).toEqual({ ours: "ERR_JSON_SYNTAX at 1", official: undefined });
});

test.each([
  [
    "D3: bytes that are not UTF-8",
    "ERR_SSE_UTF8",
    custom('"\u00e9"').replace("\u00e9", "\u{1F600}"),
  ],
])("%s are refused here; the client puts U+FFFD in their place", (_name, code, text) => {
  const bytes = utf8.encode(text);
  bytes[bytes.indexOf(0xf0) + 1] = 0x20;
  expect(both(bytes)).toEqual({ ours: `${code} at 1`, official: undefined });
});

test.each([
  ["D4: a key named twice", "ERR_JSON_DUPLICATE_KEY", '{"a":1,"a":2}'],
  ["D5: a number no double carries", "ERR_JSON_UNSAFE_NUMBER", "12345678901234567890"],
  ["D6: half of a surrogate pair", "ERR_JSON_LONE_SURROGATE", '"\\ud83d"'],
  ["D7: nesting beyond 64", "ERR_JSON_TOO_DEEP", "[".repeat(64) + "]".repeat(64)],
  ["D8: more than 10 MiB of JSON", "ERR_JSON_TOO_LARGE", `"${" ".repeat(10_485_760)}"`],
])("%s is refused here and read by the client", (_name, code, value) => {
  const { ours, official } = both(custom(value));
  // The client bounds the bytes that wait for their blank line, not the event.
  expect([`${code} at 1`, "ERR_LIMIT_EXCEEDED at 1"]).toContain(ours);
  expect(official).toBeUndefined();
});

test("D9: thinking that was never started is refused before it ends an open chunk stream", () => {
  const text = frames(
    START,
    '{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}',
    '{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"b"}',
  );
  expect(both(text)).toEqual({ ours: "ERR_DIALECT_THINKING_NOT_OPEN at 2", official: 2 });
  expect(officialWire([utf8.encode(text)]).passed.at(-1)?.type).toBe("TEXT_MESSAGE_END");
  expect(ourPipeline(INPUT, [utf8.encode(text)]).passed.at(-1)?.type).toBe("TEXT_MESSAGE_CONTENT");
});
