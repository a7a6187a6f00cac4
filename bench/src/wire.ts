/**
 * The wire on a typical text stream and on a mixed one: our decode + enforce + expand + order +
 * encode, compared with the official client on the same bytes. The client parses, enforces, expands
 * and verifies; it encodes nothing.
 */
import { enforceEvents, parseSSEStream, transformChunks, verifyEvents } from "@ag-ui/client";
import { createJsonSequence } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { createChunkExpander } from "@countersign/wire/chunks";
import { enforceEvent } from "@countersign/wire/enforce";
import { createRunAutomaton } from "@countersign/wire/order";
import { createSseDecoder, encodeSseEvent } from "@countersign/wire/sse";
import { Subject } from "rxjs";
import { compare, report } from "./harness.js";
import type { Measured } from "./harness.js";

const DELTAS = 5_000;

/** One run with one long answer, as a model streams it. */
function textStream(): AgUiEvent[] {
  const messageId = "8bfc10b0-027e-4f0e-9c3e-2f6f1d7a9b11";
  const ids = { threadId: "thread_2_1775335498802", runId: "run_3_1775335498802" };
  const events: AgUiEvent[] = [
    { type: "RUN_STARTED", ...ids },
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  ];
  for (let index = 0; index < DELTAS; index++) {
    events.push({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: ` word${index}` });
  }
  events.push({ type: "TEXT_MESSAGE_END", messageId }, { type: "RUN_FINISHED", ...ids });
  return events;
}

/** Runs without two equal neighbours: alternating text and calls, steps, state, results. */
function mixedStream(): AgUiEvent[] {
  const ids = { threadId: "thread_2_1775335498802", runId: "run_3_1775335498802" };
  const events: AgUiEvent[] = [{ type: "RUN_STARTED", ...ids }];
  for (let round = 0; round < DELTAS / 10; round++) {
    const messageId = `msg_${round}_8bfc10b0-027e-4f0e-9c3e`;
    const toolCallId = `call_${round}_2f6f1d7a9b11`;
    const delta = `{"query":"weather ${round}"}`;
    events.push(
      { type: "STEP_STARTED", stepName: `step ${round}` },
      { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: `Looking up number ${round} — ` },
      { type: "TOOL_CALL_START", toolCallId, toolCallName: "lookup", parentMessageId: messageId },
      { type: "TOOL_CALL_ARGS", toolCallId, delta },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "one\nmoment" },
      { type: "TOOL_CALL_END", toolCallId },
      { type: "TEXT_MESSAGE_END", messageId },
      { type: "TOOL_CALL_RESULT", messageId: `${messageId}r`, toolCallId, content: delta },
      { type: "STATE_DELTA", delta: [{ op: "add", path: `/round`, value: { round } }] },
      { type: "STEP_FINISHED", stepName: `step ${round}` },
    );
  }
  events.push({ type: "RUN_FINISHED", ...ids });
  return events;
}

/** The stream as a network delivers it: pieces of one size, split anywhere. */
function pieces(events: readonly AgUiEvent[], size: number): Uint8Array[] {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const bytes = new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    parts.push(bytes.slice(start, start + size));
  }
  return parts;
}

function runOurs(parts: readonly Uint8Array[]): number {
  const decoder = createSseDecoder();
  const texts = createJsonSequence();
  const expander = createChunkExpander();
  const automaton = createRunAutomaton();
  let count = 0;
  let written = 0;
  const take = (data: string): void => {
    const { event } = enforceEvent(texts.parse(data));
    if (event === undefined) return;
    for (const expanded of expander.push(event)) {
      if (automaton.push(expanded).length > 0) throw new Error("the stream is valid");
      written += encodeSseEvent(expanded).length;
      count += 1;
    }
  };
  for (const part of parts) for (const { data } of decoder.push(part)) take(data);
  for (const { data } of decoder.end()) take(data);
  automaton.end();
  if (written < count) throw new Error("an event is missing");
  return count;
}

type OfficialSource = Parameters<typeof parseSSEStream>[0];

function runOfficial(parts: readonly Uint8Array[]): number {
  let count = 0;
  // The client's parser subscribes at once, so its source must emit only afterwards.
  const source = new Subject<unknown>();
  parseSSEStream(source as unknown as OfficialSource)
    .pipe(enforceEvents(), transformChunks(), verifyEvents())
    .subscribe(() => {
      count += 1;
    });
  source.next({ type: "headers", status: 200, headers: new Headers() });
  for (const data of parts) source.next({ type: "data", data });
  source.complete();
  return count;
}

function compareOn(events: readonly AgUiEvent[], size: number): Measured[] {
  const prepare = (): Uint8Array[] => pieces(events, size);
  for (const run of [runOfficial, runOurs]) {
    if (run(prepare()) !== events.length) throw new Error(`${run.name} lost an event`);
  }
  return compare<Uint8Array[]>([
    { name: "@ag-ui/client 1.0.0: parse, enforce, expand, verify", prepare, run: runOfficial },
    { name: "countersign: decode, enforce, expand, order, encode", prepare, run: runOurs },
  ]);
}

report("wire", "A stream from bytes to judged events", {
  "text, pieces of 64 KiB": compareOn(textStream(), 65_536),
  "text, about one event per piece": compareOn(textStream(), 150),
  "mixed events, pieces of 64 KiB": compareOn(mixedStream(), 65_536),
});
