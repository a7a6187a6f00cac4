import * as fc from "fast-check";
import { expect, test } from "vitest";
import { projectAll } from "../testing/drive.js";
import { transcript } from "../testing/sample-ledger.js";
import { textMessage } from "../testing/text-message.js";
import { verifyAgUiFrameSafety } from "./index.js";
import { SafetyRules } from "./rules.js";
import { scanText } from "./scan.js";

const SECRET = "sk-Live/9f 8+é";
const spec = { forbiddenLiterals: ["other", SECRET] };
const custom = (value: unknown) => ({ type: "CUSTOM", name: "x.y", value });
const check = (value: unknown) => verifyAgUiFrameSafety([custom(value)], spec);
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
const base64url = (text: string) => Buffer.from(text, "utf8").toString("base64url");
const hex = (text: string) => Buffer.from(text, "utf8").toString("hex");

test("B16: a clean transcript has no issue; a planted literal has one with frame, path and offset", () => {
  const { frames } = projectAll(transcript());
  expect(verifyAgUiFrameSafety(frames, spec)).toEqual([]);
  const planted = [...frames, custom({ list: ["ok", `a ${SECRET} b`] })];
  expect(verifyAgUiFrameSafety(planted, spec)).toEqual([
    {
      kind: "literal",
      rule: 1,
      frameIndex: frames.length,
      path: "$.value.list[1]",
      offset: 2,
      encodings: [],
      isSplit: false,
    },
  ]);
});

test("an issue never contains the match, not even when it is in a name", () => {
  const issues = check({ [`x${SECRET}`]: { [SECRET]: SECRET } });
  expect(issues.map(({ path }) => path)).toEqual([
    "$.value.[forbidden]~key",
    "$.value.[forbidden].[forbidden]~key",
    "$.value.[forbidden].[forbidden]",
  ]);
  expect(JSON.stringify(issues)).not.toContain("sk-Live");
});

const WRITTEN: [string, (text: string) => string][] = [
  ["json", (text) => JSON.stringify(text)],
  [
    "json",
    (text) => text.replaceAll(/./gs, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ],
  ["json", (text) => text.replaceAll("/", "\\/")],
  ["percent", encodeURIComponent],
  [
    "percent",
    (text) => [...Buffer.from(text)].map((b) => `%${b.toString(16).padStart(2, "0")}`).join(""),
  ],
  ["base64", base64],
  ["base64", (text) => base64(`xx${text}yyyy`)],
  ["base64", (text) => `data${base64url(`x${text}`)}`],
  ["hex", hex],
  ["hex", (text) => `a${hex(text).toUpperCase()}`],
  ["base64 of percent", (text) => base64(encodeURIComponent(text))],
  ["percent of base64", (text) => encodeURIComponent(base64(`?${text}`))],
  ["json of json", (text) => JSON.stringify(JSON.stringify(`"${text}"`))],
  ["hex of base64 of json", (text) => hex(base64(JSON.stringify(text)))],
];

test.each(WRITTEN)("a secret written as %s is found", (_name, write) => {
  expect(check(`before ${write(SECRET)} after`)).toMatchObject([{ kind: "literal", rule: 1 }]);
});

test("the offset of an encoded secret is where its encoding begins", () => {
  const [issue] = check(`0123456789 %41 ${encodeURIComponent(SECRET)}`);
  expect(issue).toMatchObject({ offset: 15, encodings: ["percent"] });
});

test("numbers and patterns are searched, and a stateful pattern is used without its state", () => {
  const pattern = /\d{4}-\d{4}/g;
  pattern.lastIndex = 500;
  const patterns = { forbiddenPatterns: [pattern] };
  const issues = verifyAgUiFrameSafety([custom("card 4111-1111"), custom("4111-1111")], patterns);
  expect(issues).toMatchObject([
    { kind: "pattern", offset: 5 },
    { kind: "pattern", offset: 0 },
  ]);
  expect(verifyAgUiFrameSafety([custom(411_111)], { forbiddenLiterals: ["411111"] })).toHaveLength(
    1,
  );
});

test("a value that refers to itself, throws or is too deep does not stop the search", () => {
  const cycle: Record<string, unknown> = { secret: SECRET };
  cycle["self"] = cycle;
  expect(check(cycle)).toHaveLength(1);
  const throwing = Object.defineProperty({}, "x", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  expect(check(throwing)).toMatchObject([{ kind: "unchecked" }]);
  let shared: unknown = SECRET;
  for (let level = 0; level < 100; level++) shared = [shared, shared];
  expect(check(shared)).toHaveLength(2);
  const deep = (depth: number): unknown => (depth === 0 ? "x" : [deep(depth - 1)]);
  expect(check(deep(120))).toEqual([]);
  expect(check(deep(200))).toMatchObject([{ kind: "unchecked" }]);
  expect(verifyAgUiFrameSafety([null, 5, undefined, "x"], spec)).toEqual([]);
});

test("a secret split into deltas is found wherever it is split, with the frame where it starts", () => {
  for (const text of [SECRET, base64(SECRET), encodeURIComponent(SECRET)]) {
    for (let cut = 1; cut < text.length; cut++) {
      const frames = textMessage(["fine ", text.slice(0, cut), text.slice(cut), " fine"]);
      const issues = verifyAgUiFrameSafety(frames, spec);
      expect(issues).toHaveLength(1);
      expect(issues[0]).toMatchObject({ isSplit: true, path: "$.delta" });
    }
  }
  const drip = textMessage([..."so ", ...SECRET]);
  expect(verifyAgUiFrameSafety(drip, spec)).toMatchObject([{ frameIndex: 4, offset: 0 }]);
});

test("arguments and reasoning are joined too; different messages are not", () => {
  const [first, last] = [SECRET.slice(0, 5), SECRET.slice(5)];
  const call = [first, last].map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta }));
  const thought = [first, last].map((delta) => ({
    type: "REASONING_MESSAGE_CONTENT",
    messageId: "m",
    delta,
  }));
  expect(verifyAgUiFrameSafety(call, spec)).toHaveLength(1);
  expect(verifyAgUiFrameSafety(thought, spec)).toHaveLength(1);
  const apart = [...textMessage([first], "m1"), ...textMessage([last], "m2")];
  expect(verifyAgUiFrameSafety(apart, spec)).toEqual([]);
});

test("work is bounded: the rest is reported as unchecked, not as clean", () => {
  const scan = (work: number) => scanText("a%41b", new SafetyRules(spec), work);
  const readings = "a%41b".length + "aAb".length;
  expect(scan(readings)).toEqual([]);
  expect(scan(readings - 1)).toMatchObject([{ kind: "unchecked", encodings: ["percent"] }]);
});

test("decoding never multiplies a text beyond the bound, whatever its content", () => {
  const units = ["%5C", "\\", "QUJDREVG", "4142434445", "\u0041", "%25", "-_", "a"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...units), { maxLength: 2000 }), (parts) => {
      expect(check(parts.join(""))).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
