import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { digestOf } from "./digest.js";
import type { StoredRow } from "../store/keyed-store.js";
import type { MessageRecord } from "./message-record.js";
import { RunTrace } from "./run-trace.js";
import { stateOf } from "./thread-state.js";

const DELTAS = 4096;

/** The rows of a run that sends messages of that many deltas each and breaks off. */
function cutRun(runId: string, messages: number, rows: readonly StoredRow[] = []): StoredRow[] {
  const input = { threadId: "t", runId, messages: [], state: {}, tools: [], context: [] };
  const trace = new RunTrace({ ...input, forwardedProps: {} }, stateOf(rows));
  const see = (event: AgUiEvent): void => trace.see(event);
  for (let index = 0; index < messages; index += 1) {
    const messageId = `${runId}-${index}`;
    see({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    for (let count = 0; count < DELTAS; count += 1) {
      see({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: "a" });
    }
    see({ type: "TEXT_MESSAGE_END", messageId });
  }
  return trace.cut().rows;
}

const recordsOf = (rows: readonly StoredRow[]): MessageRecord[] =>
  rows
    .filter(({ kind }) => kind === "message")
    .map(({ value }) => value as unknown as MessageRecord);
const countOf = (rows: readonly StoredRow[]): number =>
  recordsOf(rows).reduce((sum, { content }) => sum + content.length, 0);

test("a cut run with many long messages keeps the newest prefixes, and each whole text", () => {
  const rows = cutRun("r", 8);
  expect(countOf(rows)).toBeLessThan(16_384 + 8 * 3);
  const whole = digestOf("a".repeat(DELTAS));
  const half = digestOf("a".repeat(DELTAS / 2));
  const records = recordsOf(rows);
  expect(records).toHaveLength(8);
  expect(records.every(({ content }) => content.includes(whole))).toBe(true);
  expect(records.map(({ content }) => content.includes(half))).toEqual([
    ...Array.from({ length: 4 }, () => false),
    ...Array.from({ length: 4 }, () => true),
  ]);
});

test("a thread of many cut runs keeps a bounded number of prefixes, and the whole of every message", () => {
  const rows: StoredRow[] = [];
  for (let run = 0; run < 6; run += 1) rows.push(...cutRun(`r${run}`, 4, rows));
  expect(countOf(rows)).toBeLessThan(65_536 + 6 * 4 * 3);
  const whole = digestOf("a".repeat(DELTAS));
  expect(recordsOf(rows).every(({ content }) => content.includes(whole))).toBe(true);
});
