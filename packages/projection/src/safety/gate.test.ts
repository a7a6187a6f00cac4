import type { AgUiEvent } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { brokenRules } from "../testing/official-client.js";
import { textMessage } from "../testing/text-message.js";
import { createFrameGate } from "./index.js";
import type { SafetySpec } from "./rules.js";

const SECRET = "sk-Live/9f 8+é";
/** The widest encoding: this many characters must be held back. */
const WIDEST = SECRET.replaceAll(
  /./g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
);
const spec = { forbiddenLiterals: ["other", SECRET] };
const started: AgUiEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const finished: AgUiEvent = { type: "RUN_FINISHED", threadId: "t", runId: "r" };

function pass(frames: readonly AgUiEvent[], rules: SafetySpec = spec) {
  const gate = createFrameGate(rules);
  const results = [...frames.map((frame) => gate.push(frame)), gate.end()];
  return {
    frames: results.flatMap((result) => result.frames),
    issues: results.flatMap((result) => result.issues),
    isClosed: gate.isClosed,
  };
}

function textOf(frames: readonly AgUiEvent[]): string {
  return frames.map((frame) => (frame.type === "TEXT_MESSAGE_CONTENT" ? frame.delta : "")).join("");
}

test("a clean stream passes whole and in order", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 200 })), (pieces) => {
      const frames = [started, ...textMessage(pieces), finished];
      const passed = pass(frames);
      expect(passed.isClosed).toBe(false);
      expect(textOf(passed.frames)).toBe(pieces.join(""));
      expect(brokenRules(passed.frames)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test("the gate closes before the first character of a split secret leaves, and ends the run", () => {
  const written = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(SECRET).toString("hex"),
    WIDEST,
  ];
  for (const text of written) {
    const filler = "word ".repeat(60);
    const passed = pass([started, ...textMessage([filler, ...text, " after"]), finished]);
    expect(passed.isClosed).toBe(true);
    expect(passed.issues).not.toEqual([]);
    const shown = textOf(passed.frames);
    expect(filler.startsWith(shown)).toBe(true);
    expect(shown.length).toBeGreaterThan(0);
    expect(passed.frames.at(-1)).toMatchObject({ type: "RUN_ERROR" });
    expect(brokenRules(passed.frames)).toEqual([]);
  }
});

test("the gate stops a frame that contains the secret anywhere", () => {
  const planted = { type: "CUSTOM", name: "x.y", value: { [SECRET]: 1 } } as unknown as AgUiEvent;
  const { frames, isClosed } = pass([started, planted, finished]);
  expect(isClosed).toBe(true);
  expect(frames.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
});

test("no part of a secret that arrives slowly leaves, however much text came before it", () => {
  for (const text of [SECRET, WIDEST]) {
    for (let before = 0; before < 200; before += 13) {
      const filler = "x".repeat(before);
      const { frames, isClosed } = pass([started, ...textMessage([...filler, ...text])]);
      expect(isClosed).toBe(true);
      expect(filler.startsWith(textOf(frames))).toBe(true);
    }
  }
});

test("the longest match of a pattern is held back", () => {
  const rules = { forbiddenPatterns: [/card \d{16}/], maxMatchLength: 21 };
  const filler = "word ".repeat(60);
  const drip = textMessage([...`${filler}card 4111111111111111`]);
  const { frames, isClosed } = pass([started, ...drip], rules);
  expect(isClosed).toBe(true);
  expect(filler.startsWith(textOf(frames))).toBe(true);
});

test("held text of an unclosed message is released before its run ends", () => {
  const open = textMessage(["held"]).slice(0, 2);
  for (const end of [finished, { type: "RUN_ERROR", message: "no" } as const]) {
    const { frames } = pass([started, ...open, end]);
    expect(frames).toEqual([started, ...open, end]);
  }
});

test("no delta that leaves begins or ends in the middle of a character", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 60 }), (pieces) => {
      const { frames } = pass([started, ...textMessage(["😀".repeat(100), ...pieces]), finished]);
      const cut = frames.filter((frame) => /\p{Surrogate}/u.test(textOf([frame])));
      expect(cut).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test("the arguments of two concurrent calls are kept apart, and so are calls, messages and reasoning", () => {
  const call = (toolCallId: string, delta: string): AgUiEvent => ({
    type: "TOOL_CALL_ARGS",
    toolCallId,
    delta,
  });
  const [first, last] = [SECRET.slice(0, 5), SECRET.slice(5)];
  const thought: AgUiEvent = { type: "REASONING_MESSAGE_CONTENT", messageId: "a", delta: last };
  const said: AgUiEvent = { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: last };
  for (const other of [call("b", last), thought, said]) {
    expect(pass([started, call("a", first), other]).isClosed).toBe(false);
  }
  expect(pass([started, call("a", first), call("b", "x"), call("a", last)]).isClosed).toBe(true);
});
