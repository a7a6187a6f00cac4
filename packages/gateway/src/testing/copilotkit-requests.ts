import { sseFrame } from "@countersign/testkit";
import type { FakeAnswer, FakePiece, FakeRequest, FakeScript } from "@countersign/testkit";

/** An input as CopilotKit's client 1.74 sends it, with these members changed. */
export function clientInput(changed: object = {}): Record<string, unknown> {
  return {
    threadId: "thread-1",
    runId: "run-1",
    tools: [],
    context: [],
    forwardedProps: {},
    state: {},
    messages: [{ id: "user-1", role: "user", content: "Where is my order?" }],
    ...changed,
  };
}

/** A request for suggestions about a conversation, as CopilotKit's client 1.75 sends it. */
export function suggestionInput(
  suggestionId: string,
  messages: readonly object[],
  changed: object = {},
): Record<string, unknown> {
  const content = "Suggest what the user could say next.";
  return clientInput({
    threadId: suggestionId,
    runId: `run-${suggestionId}`,
    tools: [{ name: "copilotkitSuggest", description: "Suggest", parameters: { type: "object" } }],
    forwardedProps: { toolChoice: { type: "function", function: { name: "copilotkitSuggest" } } },
    messages: [...messages, { id: suggestionId, role: "user", content }],
    ...changed,
  });
}

/** The answer of CopilotKit's runtime 1.75 to `info`, with members of its service, and one that it may have later. */
export const RUNTIME_INFO = {
  version: "1.75.0",
  agents: {
    support: { name: "support", description: "Answers", className: "HttpAgent" },
    hidden: { name: "hidden", description: "", className: "HttpAgent" },
  },
  audioFileTranscriptionEnabled: true,
  mode: "intelligence",
  intelligence: { wsUrl: "wss://service.example/socket" },
  threadEndpoints: { list: true, inspect: true, mutations: false, realtimeMetadata: true },
  suggestions: true,
  inspectorMetadata: true,
  a2uiEnabled: true,
  a2ui: { enabled: true, agents: ["support", "hidden"] },
  openGenerativeUIEnabled: false,
  telemetryDisabled: true,
  runtimeEntitlements: { status: "ready" },
  later: "unknown",
};

const SAYS = (messageId: string, delta: string): object[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

const CALLS = (toolCallId: string, toolCallName: string, delta: string): object[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName },
  { type: "TOOL_CALL_ARGS", toolCallId, delta },
  { type: "TOOL_CALL_END", toolCallId },
];

/** The input of a request, by whichever form it came. */
export function inputOf({ body }: FakeRequest): {
  threadId: string;
  runId: string;
  messages: object[];
} {
  const value = JSON.parse(body) as { body?: unknown };
  return (value.body ?? value) as ReturnType<typeof inputOf>;
}

/** The route of a request, by whichever form it came. */
export function routeOf({ method, path, body }: FakeRequest): string {
  if (path !== "/" || method === "GET") return path.slice(1);
  return (JSON.parse(body) as { method: string }).method;
}

/** A run that a runtime stored before the gateway stood there. */
export const EARLIER_RUN: readonly object[] = [
  {
    type: "RUN_STARTED",
    threadId: "thread-1",
    runId: "run-0",
    input: clientInput({
      runId: "run-0",
      messages: [{ id: "user-0", role: "user", content: "Hello" }],
    }),
  },
  ...SAYS("told-run-0", "Hello."),
  { type: "RUN_FINISHED", threadId: "thread-1", runId: "run-0" },
];

/**
 * A runtime that stores its runs as CopilotKit's does; `held` keeps runs open until the runtime is told to stop.
 *
 * @param stored the events of the thread `thread-1` so far
 */
export function scriptedRuntime({
  held = false,
  stored: before = [] as readonly object[],
} = {}): FakeScript {
  const threads = new Map<string, readonly object[]>([["thread-1", before]]);
  const stops = new Map<string, () => void>();
  return (request): FakeAnswer => {
    const route = routeOf(request);
    if (route.endsWith("info")) return json(RUNTIME_INFO);
    if (/stop/u.test(route)) {
      const stop = stops.get("run");
      stop?.();
      return json({
        stopped: stop !== undefined,
        interrupt: { type: "RUN_ERROR", code: "STOPPED" },
      });
    }
    if (!/(?:run|connect|suggest)$/u.test(route)) return json({ route });
    const { threadId, runId, messages } = inputOf(request);
    // Stores nothing, as CopilotKit's runtime.
    if (route.endsWith("suggest")) {
      const chips = { suggestions: [{ title: "When?", message: "When does it arrive?" }] };
      const events = [
        { type: "RUN_STARTED", threadId, runId },
        ...CALLS(`chips-${runId}`, "copilotkitSuggest", JSON.stringify(chips)),
        ...CALLS(`call-${runId}`, "prompt_user", '{"field":"PIN"}'),
        { type: "RUN_FINISHED", threadId, runId },
      ];
      return { pieces: events.map(sseFrame) };
    }
    const stored = threads.get(threadId) ?? [];
    if (route.endsWith("connect")) return { pieces: stored.map(sseFrame) };
    const events = [
      {
        type: "RUN_STARTED",
        threadId,
        runId,
        input: clientInput({ threadId, runId, messages: messages.slice(-1) }),
      },
      ...SAYS(`told-${runId}`, "It has shipped."),
      ...CALLS(`call-${runId}`, "prompt_user", '{"field":"PIN"}'),
    ];
    const end = { type: "RUN_FINISHED", threadId, runId };
    threads.set(threadId, [...stored, ...events, end]);
    return { pieces: held ? openUntil(events, end, stops) : [...events, end].map(sseFrame) };
  };
}

async function* openUntil(
  events: readonly object[],
  end: object,
  stops: Map<string, () => void>,
): AsyncGenerator<FakePiece> {
  const stopped = new Promise<void>((resolve) => stops.set("run", resolve));
  yield events.map(sseFrame).join("");
  await stopped;
  yield sseFrame(end);
}

function json(value: unknown): FakeAnswer {
  return { headers: { "content-type": "application/json" }, pieces: [JSON.stringify(value)] };
}
