import type { AgUiEvent, Message } from "@countersign/wire";
import { createRunAutomaton, ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId } from "@countersign/wire/order";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { officialVerdict } from "../../../../wire/src/testing/official-pipeline.js";
import { generateStream } from "../../../../wire/src/testing/streams.js";
import type { EventContext } from "../../event/event-context.js";
import { createInProcess, frames } from "../../testing/in-process.js";

/** Rules that match some of the generator's output, so that units are cut at every place. */
const BLOCKERS = [
  'event.type == "TEXT_MESSAGE_START" && event.messageId in ["m1", "k1"]',
  'event.type == "TEXT_MESSAGE_CONTENT" && event.messageId in ["m2", "k2"]',
  'event.type == "TEXT_MESSAGE_END" && event.messageId == "m3"',
  'event.type == "TOOL_CALL_START" && event.toolCallId in ["c1", "kc1"]',
  'event.type == "TOOL_CALL_ARGS" && event.toolCallId == "c2"',
  'event.type == "TOOL_CALL_RESULT" && event.toolCallId == "c3"',
  'event.type == "REASONING_MESSAGE_START" && event.messageId == "r1"',
  'event.type == "REASONING_START" && event.messageId == "r2"',
  'event.type == "REASONING_MESSAGE_CONTENT" && event.messageId == "m1"',
  'event.type == "ACTIVITY_SNAPSHOT" && event.messageId == "a1"',
  'event.type == "ACTIVITY_DELTA" && event.messageId == "a2"',
  'event.type == "STEP_STARTED" && event.stepName == "plan"',
  'event.type == "SUBAGENT_STARTED" && event.subagentRunId == "s1"',
  'event.type == "STATE_DELTA"',
  'event.type == "CUSTOM"',
] as const;

function policyOf(blockers: readonly string[], onBlock: string, held: boolean): string {
  const rules = blockers.map(
    (when, index) => `      - { id: b${index}, effect: block, when: '${when}' }`,
  );
  return `hushspec: "0.1.0"
name: random
rules:
  ag_ui:
    enabled: true
    on_block: ${onBlock}
    allow_display_without_capability: true
    restricted_classifications: []
    max_events_per_second: 1000000
  ag_ui_inbound: { enabled: true, default: allow }
  ag_ui_order: { on_error: allow }
  ag_ui_classify:
    raw: [{ match: "*", classification: display }]
${held ? "  ag_ui_tools:\n    arguments:\n      lookup: { type: object }\n" : ""}${
    rules.length === 0
      ? ""
      : `  ag_ui_conditions:\n    on_block: ${onBlock}\n    rules:\n${rules.join("\n")}\n`
  }`;
}

/** Puts a unique word into everything a person could read, so that the test can search for each. */
function mark(events: readonly AgUiEvent[]): AgUiEvent[] {
  let count = 0;
  const word = (): string => `«${count++}»`;
  const markMessage = (message: Message): Message => {
    const marked = structuredClone(message);
    if (typeof marked.content === "string") marked.content += word();
    if (marked.role === "activity") marked.content["word"] = word();
    if (marked.role === "assistant") {
      for (const call of marked.toolCalls ?? []) call.function.arguments = `{"x":"${word()}"}`;
    }
    return marked;
  };
  return events.map((event): AgUiEvent => {
    const marked = structuredClone(event);
    if ("delta" in marked && typeof marked.delta === "string") marked.delta += word();
    if (marked.rawEvent !== undefined) marked.rawEvent = { word: word() };
    if (marked.type === "ACTIVITY_SNAPSHOT") marked.content["word"] = word();
    if (marked.type === "TOOL_CALL_RESULT") marked.content = word();
    if (marked.type === "REASONING_ENCRYPTED_VALUE") marked.encryptedValue = word();
    if (marked.type === "RAW") marked.event = { word: word() };
    if (marked.type === "MESSAGES_SNAPSHOT") marked.messages = marked.messages.map(markMessage);
    if (marked.type === "RUN_STARTED" && marked.input !== undefined) {
      marked.input.messages = marked.input.messages.map(markMessage);
    }
    return marked;
  });
}

const WORD = /«\d+»/gu;
const wordsOf = (value: unknown): string[] => JSON.stringify(value).match(WORD) ?? [];

const OWNERSHIP_RULES = new Set([
  "gateway/message-role",
  "gateway/known-call",
  "gateway/reopened",
  "gateway/rewritten",
]);

/** Follows the decisions in order and collects every word that must be withheld. */
function forbiddenWords(contexts: readonly EventContext[]): Set<string> {
  const messages = new Set<string>();
  const calls = new Set<string>();
  const forbidden = new Set<string>();
  const forbid = (value: unknown): void => {
    for (const word of wordsOf(value)) forbidden.add(word);
  };
  for (const { event, decision, isListedPart } of contexts) {
    if (event === undefined || decision === undefined) continue;
    forbid(event.rawEvent ?? {});
    if (!decision.allow) {
      if (!isListedPart) forbid(event);
      // A write into another's message is withheld alone: that message stays.
      if (OWNERSHIP_RULES.has(decision.rule)) continue;
      if ("messageId" in event && event.messageId !== undefined) {
        if (event.type !== "TOOL_CALL_RESULT" && !event.type.startsWith("REASONING_START")) {
          if (event.type !== "REASONING_END") messages.add(event.messageId);
        }
      }
      if (event.type.startsWith("TOOL_CALL_") && "toolCallId" in event) {
        if (event.type !== "TOOL_CALL_RESULT") calls.add(event.toolCallId ?? "");
      }
    }
    const list =
      event.type === "MESSAGES_SNAPSHOT"
        ? event.messages
        : event.type === "RUN_STARTED"
          ? (event.input?.messages ?? [])
          : [];
    for (const message of list) {
      if (messages.has(message.id)) forbid(message);
      else if (message.role === "tool" && calls.has(message.toolCallId)) forbid(message);
      else if (message.role === "assistant") {
        for (const call of message.toolCalls ?? []) if (calls.has(call.id)) forbid(call);
      }
    }
  }
  return forbidden;
}

// One in a thousand streams finds a defect that sixty do not: raise it when an earlier stage changes.
const RUNS = Number(process.env["COUNTERSIGN_PROPERTY_RUNS"] ?? 60);

test("after any withholding, the official client accepts the rest of the stream, and it has no withheld word", async () => {
  let runs = 0;
  let withheld = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.subarray([...BLOCKERS]),
      fc.constantFrom("drop", "notice"),
      fc.boolean(),
      async (seed, blockers, onBlock, held) => {
        const { input, events } = generateStream(seed);
        const gateway = createInProcess(policyOf(blockers, onBlock, held));
        const pieces = frames(mark(events));
        const { delivered, contexts, failures } = await gateway.run(input, pieces);
        await gateway.close();

        expect(officialVerdict(delivered).message).toBeUndefined();
        const automaton = createRunAutomaton();
        for (const event of delivered) {
          const broken = automaton.push(event).filter(({ rule }) => {
            const { severity, reference } = ORDER_RULES[rule as OrderRuleId];
            return severity === "error" && reference.startsWith("V");
          });
          expect(broken).toEqual([]);
        }
        expect(["finished", "errored"]).toContain(automaton.runState());
        expect(failures).not.toContain("GATEWAY_FAILURE");
        const forbidden = forbiddenWords(contexts);
        const leaked = wordsOf(delivered).filter((word) => forbidden.has(word));
        expect(leaked).toEqual([]);
        runs += 1;
        withheld += forbidden.size;
      },
    ),
    { numRuns: RUNS },
  );
  expect(runs).toBe(RUNS);
  expect(withheld).toBeGreaterThan(RUNS);
}, 600_000);
