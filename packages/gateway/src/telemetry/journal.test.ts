import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createJournal } from "./journal.js";

function capture(isTTY = false) {
  const lines: string[] = [];
  return { lines, destination: { isTTY, write: (line: string) => void lines.push(line) } };
}

test("a line is one JSON object with level, time and message", () => {
  const { lines, destination } = capture();
  createJournal({ destination }).info({ run: "run-1", forwarded: 3 }, "run ended");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "info",
    name: "countersign",
    msg: "run ended",
    run: "run-1",
    forwarded: 3,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
  });
});

test("fields that could hold a secret or a payload never reach the output, at the top or one level down", () => {
  const { lines, destination } = capture();
  createJournal({ destination }).warn(
    {
      token: "s3cret",
      facts: { authorization: "s3cret", url: "/x?ticket=s3cret" },
      body: "s3cret",
    },
    "refused",
  );
  expect(lines.join("")).not.toContain("s3cret");
  expect(lines.join("")).toContain("[redacted]");
});

test("of repeated errors ten per ten seconds are written, and the next window says how many were not", () => {
  const { lines, destination } = capture();
  let now = 0;
  const journal = createJournal({ destination, now: () => now });
  for (let count = 0; count < 5000; count += 1) journal.warn({ code: "ERR_A" }, "refused");
  journal.warn({ code: "ERR_B" }, "refused");
  expect(lines).toHaveLength(11);
  expect(journal.suppressed).toBe(4990);
  now = 10_000;
  journal.warn({ code: "ERR_A" }, "refused");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ code: "ERR_A", suppressed: 4990 });
});

test("kinds above the limit share one allowance", () => {
  const { lines, destination } = capture();
  const journal = createJournal({ destination, now: () => 0 });
  for (let count = 0; count < 5000; count += 1) journal.warn({ code: `E${count}` }, "refused");
  expect(lines).toHaveLength(256 + 9 + 1);
});

test("a clock that is set back does not silence the log", () => {
  const { lines, destination } = capture();
  let now = 1_000_000;
  const journal = createJournal({ destination, now: () => now });
  for (let count = 0; count < 20; count += 1) journal.warn({}, "refused");
  now = 0;
  journal.warn({}, "refused");
  expect(lines).toHaveLength(11);
});

test("only lines of the configured level and above are written", () => {
  const { lines, destination } = capture();
  const journal = createJournal({ destination, level: "warn" });
  journal.debug({}, "a");
  journal.info({}, "b");
  journal.warn({}, "c");
  journal.error({}, "d");
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["c", "d"]);
});

test("a terminal gets readable lines, unless JSON was asked for", () => {
  const terminal = capture(true);
  createJournal({ destination: terminal.destination }).warn({ code: "ERR_A" }, "refused");
  expect(terminal.lines[0]).toMatch(/^\d\d:\d\d:\d\d warn refused code=ERR_A\n$/u);
  const json = capture(true);
  createJournal({ destination: json.destination, format: "json" }).warn({}, "refused");
  expect(() => JSON.parse(json.lines[0] ?? "") as unknown).not.toThrow();
});

test("control characters, line ends and bidi marks from a client are escaped on a terminal", () => {
  const { lines, destination } = capture(true);
  const journal = createJournal({ destination });
  const hostile = "\u001b]0;pwned\u0007\r\n\u007f\u009b31m\u202e\u2066\u2028\u2029\u{e0001}";
  journal.info({ run: hostile, nested: { [hostile]: hostile }, [hostile]: 1 }, hostile);
  expect(lines).toHaveLength(1);
  const [line = ""] = lines;
  expect(line.endsWith("\n")).toBe(true);
  // The gateway's own colour codes are around the level only.
  const said = line.slice(line.indexOf("\\u{1b}]0;"), -1);
  expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  expect(said).toContain("run=\\u{1b}]0;pwned\\u{7}\\u{d}\\u{a}\\u{7f}\\u{9b}31m\\u{202e}");
});

test("a record that cannot be parsed is escaped as well", () => {
  const { lines, destination } = capture(true);
  let deep: object = { end: "\u009b31m" };
  for (let depth = 0; depth < 600; depth += 1) deep = { deep };
  createJournal({ destination }).info(deep, "\u009b2J");
  createJournal({ destination }).info({ run: "\ud800\u009b2J" }, "run ended");
  expect(lines.join("").replaceAll("\n", "")).not.toMatch(/[\u0080-\u009f]/u);
});

test("a JSON line has printable characters only, in every field and key, and parses to the same value", () => {
  const hostile = fc.constantFrom(
    "\u007f\u0085\u009b",
    "\u202e\u2066\u2028",
    "\u{e0041}\ufe0f\u200b",
  );
  const text = fc.oneof(hostile, fc.string({ unit: "binary" }));
  // Names other than the journal's own fields and secret fields.
  const facts = fc.dictionary(
    text.map((name) => `x-${name}`),
    fc.oneof(
      text,
      fc.dictionary(
        text.map((name) => `y-${name}`),
        text,
      ),
    ),
  );
  fc.assert(
    fc.property(facts, text, (said, message) => {
      const { lines, destination } = capture();
      createJournal({ destination }).info(said, message);
      const [line = ""] = lines;
      expect(lines).toHaveLength(1);
      expect(line).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+\n$/u);
      expect(line).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
      expect(JSON.parse(line)).toMatchObject({ ...said, msg: message });
    }),
    { numRuns: 500 },
  );
});
