import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent55 } from "ag-ui-client-0.0.55";
import { HttpAgent as HttpAgent59 } from "ag-ui-client-0.0.59";

/** An event as a test reads it. */
export type SeenEvent = { type: string; [field: string]: unknown };

/** The result of a run with a real client. */
export type ClientRun = {
  events: SeenEvent[];
  types: string[];
  messages: { id: string; role: string; content?: unknown; toolCalls?: unknown }[];
  state: unknown;
  /** The error that the client threw, if any. */
  error: Error | undefined;
};

/** The official clients, by version. */
export const CLIENTS = {
  "1.0.0": HttpAgent,
  "0.0.59": HttpAgent59 as unknown as typeof HttpAgent,
  "0.0.55": HttpAgent55 as unknown as typeof HttpAgent,
} as const;

/** Options of {@link runClient}. */
export type ClientOptions = {
  version?: keyof typeof CLIENTS;
  threadId?: string;
  runId?: string;
  headers?: Record<string, string>;
  messages?: { id: string; role: string; content?: string; [field: string]: unknown }[];
  tools?: { name: string; description: string; parameters?: unknown }[];
};

let count = 0;

/** Runs an agent with a real client and returns the events it saw. */
export async function runClient(url: string, options: ClientOptions = {}): Promise<ClientRun> {
  const Client = CLIENTS[options.version ?? "1.0.0"];
  const agent = new Client({
    url,
    threadId: options.threadId ?? "thread-1",
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  });
  agent.setMessages(
    (options.messages ?? [{ id: "u1", role: "user", content: "hello" }]) as Parameters<
      typeof agent.setMessages
    >[0],
  );
  const events: SeenEvent[] = [];
  count += 1;
  let error: Error | undefined;
  try {
    await agent.runAgent(
      {
        runId: options.runId ?? `run-${count}`,
        ...(options.tools === undefined ? {} : { tools: options.tools as never }),
      },
      { onEvent: ({ event }) => void events.push(event as unknown as SeenEvent) },
    );
  } catch (thrown) {
    error = thrown as Error;
  }
  return {
    events,
    types: events.map(({ type }) => type),
    messages: agent.messages as ClientRun["messages"],
    state: agent.state,
    error,
  };
}
