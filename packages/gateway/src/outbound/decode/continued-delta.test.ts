import { canonicalJson, sha256Hex } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { generateStream } from "../../../../wire/src/testing/streams.js";
import type { UpstreamPiece } from "../../agent/upstream.js";
import type { EventContext } from "../../event/event-context.js";
import { inRun } from "../../testing/events.js";
import { chunk, createInProcess } from "../../testing/in-process.js";
import type { InProcessOptions } from "../../testing/in-process.js";

const RUNS = Number(process.env["COUNTERSIGN_PROPERTY_RUNS"] ?? 150);

const BLOCKERS = [
  'event.type == "TEXT_MESSAGE_CONTENT" && event.delta == "stop"',
  'event.type == "REASONING_MESSAGE_CONTENT" && event.messageId == "r1"',
  'event.type == "TEXT_MESSAGE_START" && event.messageId in ["m1", "k1"]',
  'event.type == "TOOL_CALL_RESULT"',
  'event.type == "STATE_DELTA"',
] as const;

type Limits = { mode: string; onBlock: string; perSecond: number; content: boolean };

function policyOf(blockers: readonly string[], { mode, onBlock, perSecond, content }: Limits) {
  const rules = blockers.map(
    (when, at) => `      - { id: b${at}, effect: block, when: '${when}' }`,
  );
  return `hushspec: "0.1.0"
name: random
mode: ${mode}
on_block: ${onBlock}
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: []
    max_events_per_second: ${perSecond}
  ag_ui_inbound: { default: allow }
  ag_ui_order: { on_error: allow }
${content ? "  ag_ui_content: { read: [text, reasoning], max_characters: 400 }\n" : ""}${
    rules.length === 0 ? "" : `  ag_ui_conditions:\n    rules:\n${rules.join("\n")}\n`
  }`;
}

/** Pieces of text that mean something together, or only while something else is open. */
const TEXTS = [
  "a ",
  "![",
  "](https://evil.example/x)",
  "`",
  "```\n",
  "\n\n",
  "<im",
  "g>",
  "\u200b",
];
const texts = fc.array(fc.oneof(fc.constantFrom(...TEXTS, "stop", ""), fc.string()), {
  minLength: 1,
  maxLength: 6,
});

const isDelta = ({ type }: AgUiEvent): boolean =>
  type === "TEXT_MESSAGE_CONTENT" || type === "REASONING_MESSAGE_CONTENT";

/** Divides the text of each message into deltas, most of which are alike. */
function withTexts(events: readonly AgUiEvent[], parts: readonly (readonly string[])[]) {
  let next = 0;
  return events.flatMap((event) => {
    if (!isDelta(event)) return [event];
    const { rawEvent: _raw, ...bare } = event;
    return (parts[next++ % parts.length] ?? []).map((delta) => ({ ...bare, delta }) as AgUiEvent);
  });
}

/** One more member makes an event another than the one before it: each of them takes every step of every stage. */
const oneByOne = (events: readonly AgUiEvent[]): AgUiEvent[] =>
  events.map((event, at) => (isDelta(event) ? { ...event, timestamp: at } : event));

function cut({ bytes }: { bytes: Uint8Array }, lengths: readonly number[]): UpstreamPiece[] {
  const pieces: UpstreamPiece[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? bytes.length);
    pieces.push({ kind: "sse", bytes: bytes.slice(at, end) });
    at = end;
  }
  return pieces;
}

/** The same without minted identifiers and without the time stamp that only one side has. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (name, member: unknown) =>
    name === "timestamp" || name === "payload_hash" || name === "payload_text" ? undefined : member,
  );
  return JSON.parse(text.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/gu, "ID"));
}

type Result = {
  readonly outcome: unknown;
  readonly contexts: readonly EventContext[];
};

async function resultOf(
  policy: string,
  events: readonly AgUiEvent[],
  lengths: readonly number[],
  input: Parameters<ReturnType<typeof createInProcess>["run"]>[0],
  options: InProcessOptions,
): Promise<Result> {
  const gateway = createInProcess(policy, { clock: { now: () => 1_000 } });
  const pieces = cut(chunk(events) as { bytes: Uint8Array }, lengths);
  const { delivered, contexts, failures } = await gateway.run(input, pieces, options);
  await gateway.close();
  const { drafts } = gateway.recorder;
  const judged = contexts.map(({ event, facts, decision, emitted, capabilityId }) => ({
    event,
    facts,
    decision,
    emitted,
    capabilityId,
  }));
  for (const [at, { event }] of contexts.entries()) {
    if (event === undefined || !isDelta(event)) continue;
    expect(drafts[at]?.receipt.payload_hash).toBe(sha256Hex(canonicalJson(event as never)));
  }
  // Which failures follow the end of a run depends on how much of the stream was read by then.
  expect(failures).not.toContain("GATEWAY_FAILURE");
  return { outcome: comparable({ delivered, judged, drafts }), contexts };
}

test("deltas that continue one another get the decisions and receipts that they get one by one, however they are cut", async () => {
  let continued = 0;
  let denied = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.array(texts, { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      fc.subarray([...BLOCKERS]),
      fc.record({
        mode: fc.constantFrom("enforce", "observe"),
        onBlock: fc.constantFrom("drop", "notice", "end"),
        perSecond: fc.constantFrom(20, 60, 1_000_000),
        content: fc.boolean(),
      }),
      fc.constantFrom("1.0" as const, "0.0.59" as const, "envelope" as const),
      async (seed, parts, lengths, blockers, limits, clientDialect) => {
        const { input, events } = generateStream(seed);
        const policy = policyOf(blockers, limits);
        const divided = withTexts(events, parts);
        const options = { clientDialect };
        const together = await resultOf(policy, divided, lengths, input, options);
        const apart = await resultOf(policy, oneByOne(divided), [1 << 20], input, options);
        expect(together.outcome).toEqual(apart.outcome);
        expect(apart.contexts.some(({ isContinued }) => isContinued)).toBe(false);
        for (const { isContinued, event, decision } of together.contexts) {
          if (isContinued) continued += 1;
          if (decision?.allow === false && event !== undefined && isDelta(event)) denied += 1;
        }
      },
    ),
    { numRuns: RUNS },
  );
  expect(continued).toBeGreaterThan(RUNS);
  expect(denied).toBeGreaterThan(RUNS / 4);
}, 600_000);

const IDS = { threadId: "t", runId: "r" };
const START = { type: "TEXT_MESSAGE_START", messageId: "m" };
const END = { type: "TEXT_MESSAGE_END", messageId: "m" };
const delta = (text: string, messageId = "m", fields: object = {}): object => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta: text,
  ...fields,
});

test("only a delta with nothing but new text continues the one before it", async () => {
  const gateway = createInProcess(policyOf([], NO_LIMITS));
  const events = [
    START,
    delta("a"),
    delta("b"),
    delta("c", "m", { metadata: {} }),
    delta("d"),
    { type: "TEXT_MESSAGE_START", messageId: "n" },
    delta("e"),
    delta("f", "n"),
    delta("g", "n"),
    { type: "TEXT_MESSAGE_END", messageId: "n" },
    delta("h"),
    delta("i"),
    END,
  ];
  const { contexts } = await gateway.run({ ...IDS, messages: [] }, [chunk(inRun(IDS, events))]);
  await gateway.close();
  const texts = contexts.filter(({ isContinued }) => isContinued).map(({ event }) => event);
  expect(texts.map((event) => (event as { delta?: string }).delta)).toEqual(["b", "g", "i"]);
});

test("a finding in a continued delta withholds the rest of its message", async () => {
  const gateway = createInProcess(policyOf([], { ...NO_LIMITS, content: true }));
  const events = [
    START,
    ...["look ", "![x", "](https://evil.example/", "x)", "more"].map((one) => delta(one)),
    END,
  ];
  const { contexts } = await gateway.run({ ...IDS, messages: [] }, [chunk(inRun(IDS, events))]);
  await gateway.close();
  expect(contexts.map(({ decision }) => decision?.allow)).toEqual([
    // The run, its message and two deltas.
    true,
    true,
    true,
    true,
    // The delta with the finding, and those after it.
    false,
    false,
    false,
    true,
    true,
  ]);
});

const NO_LIMITS: Limits = {
  mode: "enforce",
  onBlock: "drop",
  perSecond: 1_000_000,
  content: false,
};
