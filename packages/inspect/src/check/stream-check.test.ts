import { parseJson } from "@countersign/core";
import { createChunkExpander } from "@countersign/wire/chunks";
import { createRunAutomaton } from "@countersign/wire/order";
import {
  cutBytes,
  frameTexts,
  generateStream,
  mutateStream,
  mutateTexts,
  Random,
  textsOf,
} from "@countersign/wire/testing";
import type { GeneratedStream } from "@countersign/wire/testing";
import { expect, test } from "vitest";
import { createSseWatch } from "../framing/sse-watch.js";
import { checkEvents, checkSse, faults } from "../testing/run-check.js";
import { createFindings, MAX_PLACES } from "./findings.js";
import { createStreamCheck } from "./stream-check.js";

const RUNS = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 800);
const PATIENCE = 30_000 + RUNS * 20;

/** Whether the wire's own stages find nothing; patches that fail are the state's matter. */
function isClean({ input, events }: GeneratedStream): boolean {
  const expander = createChunkExpander();
  const automaton = createRunAutomaton({ input });
  try {
    for (const event of events) {
      for (const expanded of expander.push(event)) {
        if (automaton.push(expanded).length > 0) return false;
      }
    }
    return automaton.end().length === 0;
  } catch {
    return false;
  }
}

test("no clean stream raises an alarm, however it is framed and cut", { timeout: PATIENCE }, () => {
  let clean = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const generated = generateStream(seed);
    if (!isClean(generated)) continue;
    clean++;
    const found = checkEvents(generated.events as never, generated.input);
    const expected = faults(found).filter(
      (rule) => rule.endsWith("/patch-failed") || rule === "interrupt/resume-coverage",
    );
    expect(faults(found), `seed ${seed}`).toEqual(expected);
    const random = new Random(seed);
    const body = new TextEncoder().encode(
      textsOf(generated.events)
        .map((text) => `data: ${text}\n\n`)
        .join(""),
    );
    const findings = createFindings();
    const check = createStreamCheck({ findings, input: generated.input });
    const watch = createSseWatch({ findings, check });
    for (const piece of cutBytes(random, body)) watch.push(piece);
    watch.end();
    check.end();
    expect(findings.list()).toEqual(found);
  }
  expect(clean).toBeGreaterThan(RUNS / 10);
});

test("a broken stream never makes the check throw", { timeout: PATIENCE }, () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = new Random(seed);
    const { input, events } = generateStream(seed, 20);
    const findings = createFindings();
    const check = createStreamCheck({ findings, input });
    const watch = createSseWatch({ findings, check });
    const texts = mutateTexts(random, mutateStream(seed, events));
    const body = new TextEncoder().encode(frameTexts(random, texts));
    // Bytes are flipped too: what arrives need not even be text.
    for (let flips = random.below(4); flips > 0; flips--)
      body[random.below(body.length)] = random.below(256);
    for (const piece of cutBytes(random, body)) watch.push(piece);
    watch.end(random.chance(0.2));
    check.end();
    expect(check.summary().events).toBeLessThanOrEqual(body.length);
  }
});

test("the same bytes give the same findings wherever the network cut them", () => {
  const body =
    '\ufeff: hi\r\n\r\ndata: {"type":"RUN_STARTED","threadId":"t","runId":"é"}\r\n\r\nevent: x\ndata:{}\n\n' +
    'data: [DONE]\n\ndata: a\ndata: b\n\nnoise\r{"type":"CUSTOM"}\n\ndata: {"type":"RUN_FINISHED","threadId":"t","runId":"é"}\n';
  const whole = checkSse(body);
  for (let size = 1; size < 40; size++) expect(checkSse(body, size)).toEqual(whole);
});

test("one faulty optional field does not make the rest look out of order", () => {
  const found = checkEvents([
    { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0", timestamp: "now" },
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", name: 5 },
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  ]);
  expect(found.map(({ rule, places }) => [rule, places[0]?.eventNumber])).toEqual([
    ["event/timestamp", 1],
    ["event/malformed", 2],
  ]);
});

test("a rule that is broken a million times stays one finding with bounded places", () => {
  const findings = createFindings();
  const check = createStreamCheck({ findings });
  for (let count = 0; count < 2000; count++) check.text('{"type":"NOPE"}');
  const [finding] = findings.list();
  expect(finding).toMatchObject({ rule: "event/unknown-type", count: 2000 });
  expect(finding?.places).toHaveLength(MAX_PLACES);
});

test("a severity can be changed and a rule switched off", () => {
  const findings = createFindings(
    new Map([
      ["event/unknown-type", "error"],
      ["run/truncated", "off"],
    ]),
  );
  const check = createStreamCheck({ findings });
  check.text('{"type":"NOPE"}');
  check.end();
  expect(findings.list().map(({ rule, severity }) => [rule, severity])).toEqual([
    ["event/unknown-type", "error"],
  ]);
});

test("the summary names version, dialect and features", () => {
  const findings = createFindings();
  const check = createStreamCheck({ findings });
  for (const text of [
    '{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}',
    '{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","delta":"{}"}',
    '{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}}',
  ]) {
    check.value(parseJson(text), text.length);
  }
  check.end();
  expect(check.summary()).toMatchObject({
    events: 3,
    runs: 1,
    dialect: "1.0",
    protocolVersion: "1.0",
    features: ["chunks", "interrupts", "tools"],
  });
});
