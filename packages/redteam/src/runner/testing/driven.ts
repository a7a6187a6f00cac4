import type { JsonObject } from "@countersign/core";
import { startFakeAgent } from "@countersign/testkit";
import type { RunnerOptions, ServerAddresses } from "../options.js";
import { runDocument } from "../run-document.js";
import type { DocumentResult } from "../run-document.js";
import { answering, documentOf, streamOf } from "./scripted.js";

/** An actor that is a user with these words, one phase each. */
export function user(...words: string[]): JsonObject {
  const phases = words.map((content, index) => ({
    state: { run_agent_input: { messages: [{ id: `m${index}`, role: "user", content }] } },
    ...(index < words.length - 1 ? { trigger: { event: "run_finished" } } : {}),
  }));
  return { name: "user", mode: "ag_ui_client", phases };
}

/** A text of the agent. */
export function spoken(text: string): JsonObject[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: text },
    { type: "TEXT_MESSAGE_END", messageId: "a" },
  ];
}

/** Looks for a word that no agent here says. */
export const UNSEEN =
  "{protocol: ag_ui, direction: response, target: response.content, pattern: {contains: zzz}}";

/** Runs actors against an agent whose every run does some work with the servers, and then says a text. */
export async function runDriven(
  actors: readonly JsonObject[],
  work: (addresses: ServerAddresses, body: string) => Promise<string>,
  options: Partial<RunnerOptions> = {},
  indicator: string = UNSEEN,
): Promise<DocumentResult> {
  let addresses: ServerAddresses = { mcp: {}, a2a: {} };
  const servers = {
    announce(announced: ServerAddresses): void {
      addresses = announced;
    },
  };
  const agent = await startFakeAgent(async ({ body }) => {
    const text = await work(addresses, body);
    return { pieces: answering(body, streamOf(...spoken(text))) };
  });
  try {
    const document = documentOf(JSON.stringify({ actors }), indicator);
    return await runDocument(document, { target: agent.url, servers, ...options });
  } finally {
    await agent.stop();
  }
}

/** The messages of a protocol in a trace: actor, phase, direction, event. */
export function messagesOf({ execution }: DocumentResult, protocol: string): string[] {
  return (execution?.trace ?? [])
    .filter((entry) => entry.protocol === protocol)
    .map(({ phase, direction, event }) => `${phase ?? ""} ${direction} ${event}`);
}
