import type { JsonObject } from "@countersign/core";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakePiece } from "@countersign/testkit";
import { loadDocument } from "../../oatf/index.js";
import type { NormalizedDocument } from "../../oatf/index.js";
import type { RunnerOptions } from "../options.js";
import { runDocument } from "../run-document.js";
import type { DocumentResult } from "../run-document.js";

/** The start of a run; {@link answering} gives it the ids of the request. */
export const STARTED: JsonObject = { type: "RUN_STARTED", threadId: "t", runId: "r" };
/** The end of a run. */
export const FINISHED: JsonObject = { type: "RUN_FINISHED", threadId: "t", runId: "r" };

/** A run around some events, as pieces of a stream. */
export function streamOf(...events: JsonObject[]): string[] {
  return [STARTED, ...events, FINISHED].map(sseFrame);
}

/** A whole tool call. */
export function callOf(id: string, name: string, args = "{}"): JsonObject[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
    { type: "TOOL_CALL_ARGS", toolCallId: id, delta: args },
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
}

/** A document around an execution in YAML flow style, with one indicator. */
export function documentOf(
  execution: string,
  indicator = "{surface: custom, target: name, pattern: {condition: proof}, protocol: ag_ui}",
): NormalizedDocument {
  return loadDocument(
    `oatf: "0.1"\nattack:\n  execution: ${execution}\n  indicators: [${indicator}]\n`,
  ).document;
}

/** One request with one user message. */
export const HELLO =
  "{mode: ag_ui_client, state: {run_agent_input: {messages: [{id: m, role: user, content: Hi}]}}}";

/** The result of a document against scripted responses, one per request; the last one repeats. */
export type Scripted = DocumentResult & { readonly requests: FakeAgent["requests"] };

/** The pieces of a stream with the ids of the request in place of those of {@link STARTED} and {@link FINISHED}. */
export async function* answering(
  body: string,
  pieces: AsyncIterable<FakePiece> | Iterable<FakePiece>,
): AsyncGenerator<FakePiece> {
  const [, thread = "t"] = /"threadId":"([^"]*)"/.exec(body) ?? [];
  const [, run = "r"] = /"runId":"([^"]*)"/.exec(body) ?? [];
  for await (const piece of pieces) {
    yield typeof piece === "string"
      ? piece.replaceAll('"threadId":"t","runId":"r"', `"threadId":"${thread}","runId":"${run}"`)
      : piece;
  }
}

/** Runs a document against an agent that gives scripted answers. */
export async function runScripted(
  document: NormalizedDocument,
  answers: readonly (AsyncIterable<FakePiece> | Iterable<FakePiece>)[],
  options: Partial<RunnerOptions> = {},
): Promise<Scripted> {
  let next = 0;
  const agent = await startFakeAgent(({ body }) => {
    const pieces = answers[Math.min(next, answers.length - 1)] ?? [];
    next += 1;
    return { pieces: answering(body, pieces) };
  });
  try {
    const target = options.transport === "websocket" ? agent.webSocketUrl : agent.url;
    const result = await runDocument(document, { target, ...options });
    return { ...result, requests: agent.requests };
  } finally {
    await agent.stop();
  }
}

/** Nothing, until the peer goes away or the time is up. */
export async function* silence(before: readonly FakePiece[] = []): AsyncGenerator<FakePiece> {
  yield* before;
  await new Promise((resolve) => setTimeout(resolve, 3000).unref());
}
