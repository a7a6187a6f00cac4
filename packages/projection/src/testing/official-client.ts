import { HttpAgent } from "@ag-ui/client";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, Interrupt, Message } from "@countersign/wire";
import { createRunAutomaton } from "@countersign/wire/order";

/** The result of the official client for a stream. */
export type OfficialResult = {
  readonly failure: string | undefined;
  readonly events: JsonObject[];
  readonly messages: Message[];
  readonly interrupts: Interrupt[];
};

/** Reads frames with the real `HttpAgent`, from its transport to its message list. */
export async function readWithOfficialClient(
  frames: readonly AgUiEvent[],
  options: { threadId?: string; messages?: readonly Message[] } = {},
): Promise<OfficialResult> {
  const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
  const agent = new HttpAgent({
    url: "http://agent.test/",
    threadId: options.threadId ?? "conversation:demo",
    initialMessages: [...(options.messages ?? [])] as never,
    fetch: () =>
      Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
  } as ConstructorParameters<typeof HttpAgent>[0]);
  const events: JsonObject[] = [];
  let failure: string | undefined;
  try {
    await agent.runAgent(
      { runId: "requested" },
      {
        onEvent: ({ event }) => {
          events.push(event as unknown as JsonObject);
        },
      },
    );
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  return {
    failure,
    events,
    messages: agent.messages as unknown as Message[],
    interrupts: agent.pendingInterrupts as unknown as Interrupt[],
  };
}

/**
 * The rules of order that frames violate, including the strict ones; an unterminated stream
 * violates one.
 */
export function brokenRules(frames: readonly AgUiEvent[]): string[] {
  const automaton = createRunAutomaton({ strict: true });
  const violations = frames.flatMap((frame) => [...automaton.push(frame)]);
  if (frames.length > 0) violations.push(...automaton.end());
  return violations.map(({ rule, eventNumber }) => `${rule}@${eventNumber}`);
}
