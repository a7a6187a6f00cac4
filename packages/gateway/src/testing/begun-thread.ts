import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { call, idsOf, inRun, text } from "./events.js";
import { startFixture } from "./fixture.js";
import type { Fixture } from "./fixture.js";

/** A policy under which only the checks against the thread reject a request. */
export const requestPolicy = (request = "{}"): string => `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_request: ${request}
`;

/** The client's own tool. */
export const ASK = { name: "ask", description: "asks the person", parameters: { type: "object" } };

/** An interrupt about the call `c2`. */
export const INTERRUPT = {
  id: "i1",
  reason: "confirmation",
  toolCallId: "c2",
  expiresAt: "2999-01-01T00:00:00Z",
  responseSchema: {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  },
};

/** The first run: a message, a call of the client's tool, and a server's call with its result. */
function firstRun(body: string, interrupts: readonly object[]): object[] {
  const ids = idsOf(body);
  const events = inRun(ids, [
    ...text("a1", "I refuse"),
    ...call("c1", "ask", '{"q":1}'),
    ...call("c2", "pay", '{"amount":5}'),
    ...call("c3", "lookup", "{}"),
    { type: "TOOL_CALL_RESULT", messageId: "t3", toolCallId: "c3", content: "found" },
  ]);
  const outcome = { type: "interrupt", interrupts };
  return interrupts.length === 0 ? events : [...events.slice(0, -1), { ...events.at(-1), outcome }];
}

/** The person's first message. */
export const USER = { id: "u1", role: "user", content: "please" };
/** A call as a message lists it. */
export const fn = (id: string, name: string, args: string): object => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
/** A message as a client holds it. */
export type Held = { id: string; role: string; [field: string]: unknown };

/** The messages of the official client after the first run. */
export const HISTORY: Held[] = [
  USER,
  { id: "a1", role: "assistant", content: "I refuse" },
  { id: "c1", role: "assistant", toolCalls: [fn("c1", "ask", '{"q":1}')] },
  { id: "c2", role: "assistant", toolCalls: [fn("c2", "pay", '{"amount":5}')] },
  { id: "c3", role: "assistant", toolCalls: [fn("c3", "lookup", "{}")] },
  { id: "t3", role: "tool", toolCallId: "c3", content: "found" },
];

/** The person's next message. */
export const NEXT = { id: "u2", role: "user", content: "go on" };

/** The client's result for the call of its tool. */
export const ANSWER = { id: "t1", role: "tool", toolCallId: "c1", content: "yes" };

type Problem = { code: string; detail: string; receipt: string; pointer: string; remedy: string };
/** The response to a request. */
export type Answer = Partial<Omit<Problem, "code">> & {
  status: number;
  text: string;
  code: string | undefined;
};

/** A thread on which one run has ended, and its client. */
export type BegunThread = {
  readonly fixture: Fixture;
  /** The agent's events in later runs. */
  later: (request: FakeRequest) => object[];
  send(fields: object, query?: string): Promise<Answer>;
  sendText(body: string, query?: string): Promise<Answer>;
};

/** Starts a gateway and runs the first request. */
export async function beginThread(
  request?: string,
  interrupts: readonly object[] = [],
): Promise<BegunThread> {
  const fixture = await startFixture(
    (asked) => {
      const isFirst = fixture.agentRequests.length <= 1;
      const events = isFirst ? firstRun(asked.body, interrupts) : thread.later(asked);
      return { pieces: events.map(sseFrame) };
    },
    { policy: requestPolicy(request) },
  );
  const sendText = (body: string, query = ""): Promise<Answer> => sendTo(fixture, body, query);
  const thread: BegunThread = {
    fixture,
    later: ({ body }) => inRun(idsOf(body), text("a9", "later")),
    sendText,
    send(fields, query) {
      const body = { threadId: "t", runId: "r2", protocolVersion: "1.0", messages: [], ...fields };
      return sendText(JSON.stringify(body), query);
    },
  };
  const started = await thread.send({ messages: [USER], runId: "r1", tools: [ASK] });
  if (started.status !== 200) throw new TypeError(`the first run was refused: ${started.text}`);
  return thread;
}

/** Sends a request body unchanged. */
export async function sendTo(fixture: Fixture, body: string, query = ""): Promise<Answer> {
  const response = await fetch(`${fixture.url}/agents/support${query}`, { method: "POST", body });
  const answer = await response.text();
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  const problem = isProblem ? (JSON.parse(answer) as Problem) : undefined;
  return { status: response.status, text: answer, code: problem?.code, ...problem };
}
