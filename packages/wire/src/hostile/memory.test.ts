import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { createChunkExpander } from "../chunks/index.js";
import { createUpgrader } from "../dialects/index.js";
import type { AgUiEvent } from "../model/event.js";
import { createRunAutomaton } from "../order/index.js";
import { createProtoDecoder } from "../proto/index.js";
import { createReducer } from "../reduce/index.js";
import { createSseDecoder } from "../sse/index.js";

const MEBIBYTE = 1024 * 1024;
const utf8 = new TextEncoder();

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes held after the garbage is gone, buffers outside the heap included. */
function held(): number {
  // Buffers are freed by a thread of their own; the next collection waits for it.
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Pushes until the peer has sent enough or is refused; says the code, and what is still held then. */
function flood<Kept>(
  create: () => Kept,
  push: (kept: Kept, round: number) => void,
  rounds: number,
): { code: string; grown: number } {
  const before = held();
  const kept = create();
  let code = "";
  try {
    for (let round = 0; round < rounds; round++) push(kept, round);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    code = error.code;
  }
  const grown = held() - before;
  // Keeps the stage alive until it has been weighed.
  expect(kept).toBeDefined();
  return { code, grown };
}

const LONG = "x".repeat(64 * 1024);

test("a line that never ends is refused at its limit, and let go", () => {
  const piece = utf8.encode(LONG);
  const { code, grown } = flood(createSseDecoder, (decoder) => decoder.push(piece), 1000);
  expect(code).toBe("ERR_LIMIT_EXCEEDED");
  expect(grown).toBeLessThan(8 * MEBIBYTE);
});

test("64 MiB of comments, blank lines and ids leave nothing behind in an SSE decoder", () => {
  const piece = utf8.encode(`: ${LONG}\n\nid: ${LONG.slice(0, 1000)}\n\n`);
  const { code, grown } = flood(createSseDecoder, (decoder) => decoder.push(piece), 1000);
  expect(code).toBe("");
  expect(grown).toBeLessThan(8 * MEBIBYTE);
});

test("a data block that never closes is refused at its limit", () => {
  const piece = utf8.encode(`data: ${LONG}\n`);
  const { code } = flood(createSseDecoder, (decoder) => decoder.push(piece), 1000);
  expect(code).toBe("ERR_LIMIT_EXCEEDED");
});

test("a protobuf frame that announces 4 GiB is refused before a byte of it is held", () => {
  const piece = Uint8Array.of(0xff, 0xff, 0xff, 0xff, ...utf8.encode("x".repeat(1000)));
  const { code, grown } = flood(
    () => createProtoDecoder(),
    (decoder) => decoder.push(piece),
    10,
  );
  expect(code).not.toBe("");
  expect(grown).toBeLessThan(MEBIBYTE);
});

const START: AgUiEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };

function textOf(round: number, size: number): AgUiEvent[] {
  const messageId = `${round}-${"m".repeat(size)}`;
  return [
    { type: "TEXT_MESSAGE_START", messageId },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: LONG.slice(0, size) },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

test("new message ids without end are refused by the automaton, and by the reducer", () => {
  const automaton = flood(
    () => createRunAutomaton(),
    (judge, round) => {
      if (round === 0) judge.push(START);
      for (const event of textOf(round, 4000)) judge.push(event);
    },
    100_000,
  );
  expect(automaton.code).toBe("ERR_ORDER_STATE_TOO_LARGE");
  expect(automaton.grown).toBeLessThan(64 * MEBIBYTE);
  const reducer = flood(
    () => createReducer(),
    (model, round) => {
      if (round === 0) model.push(START);
      for (const event of textOf(round, 64)) model.push(event);
    },
    100_000,
  );
  expect(reducer.code).toBe("ERR_REDUCE_TOO_LARGE");
  expect(reducer.grown).toBeLessThan(64 * MEBIBYTE);
});

test("a million deltas of one message are judged and expanded without growing", () => {
  const delta: AgUiEvent = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "word " };
  const { code, grown } = flood(
    () => ({ automaton: createRunAutomaton(), expander: createChunkExpander() }),
    ({ automaton, expander }, round) => {
      if (round === 0) {
        automaton.push(START);
        automaton.push({ type: "TEXT_MESSAGE_START", messageId: "m" });
      }
      for (const event of expander.push(delta)) automaton.push(event);
    },
    1_000_000,
  );
  expect(code).toBe("");
  expect(grown).toBeLessThan(8 * MEBIBYTE);
});

test("lanes, and calls held for an older client's dialect, are bounded", () => {
  const lanes = flood(
    () => createChunkExpander(),
    (expander, round) => {
      const tag = { subagentRunId: `s${round}` };
      expander.push({ type: "TEXT_MESSAGE_CHUNK", messageId: `m${round}`, delta: "x", ...tag });
    },
    10_000,
  );
  expect(lanes.code).toBe("ERR_CHUNK_TOO_MANY_LANES");
  const thinking = flood(
    () => createUpgrader({ dialect: "auto", mintId: (kind) => kind }),
    (upgrader) => upgrader.push({ type: "THINKING_START", title: LONG }),
    10_000,
  );
  expect(thinking).toMatchObject({ code: "" });
  expect(thinking.grown).toBeLessThan(8 * MEBIBYTE);
});
