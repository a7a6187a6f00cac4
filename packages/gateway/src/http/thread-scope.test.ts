import { sseFrame } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ASK } from "../testing/begun-thread.js";
import { call, idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { KEYS, keyAccess } from "../testing/key-holders.js";
import { ACTS, CONTINUATIONS, FIRST_RUN, SAID } from "../testing/older-acts.js";

// The agent may write a part of the state only, and a greeting is accepted on a new thread.
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: [mutate, destroy]
    max_events_per_second: 1000000
  ag_ui_inbound: { default: allow, allow_classifications: [display, mutate] }
  ag_ui_classify:
    state: [{ match: /ui, classification: display }]
  ag_ui_request: { history: { greeting: accept } }
  ag_ui_content: {}
`;

/** An act of the second run: the agent's events, and members of the client's request. */
type Act = {
  readonly name: string;
  /** The events of the first run, if not the usual ones. */
  readonly first?: readonly object[];
  readonly events: readonly object[];
  readonly request?: object;
};

const ANSWER = { id: "h1", role: "assistant", content: "Hello" };
const ANSWER_EVENTS = text(ANSWER.id, ANSWER.content);
const NEXT = { id: "u2", role: "user", content: "more" };
const GREETING: Act = {
  name: "a greeting",
  events: [],
  request: { messages: [{ ...ANSWER, id: "g" }, NEXT] },
};
/** What the official client sends with the second request. */
const WHOLE: Act = {
  name: "the whole conversation",
  first: ANSWER_EVENTS,
  events: [],
  request: { messages: [SAID, ANSWER, NEXT] },
};
const saying = (name: string, ...messages: object[]): Act => ({
  name,
  events: [],
  request: { messages },
});
const REQUESTS: readonly Act[] = [
  {
    name: "a snapshot that takes away a key",
    events: [{ type: "STATE_SNAPSHOT", snapshot: { ui: 1 } }],
  },
  { name: "the page's tool, not declared any more", events: call("c9", ASK.name, "{}") },
  { name: "a run id once more", events: [], request: { runId: "FIRST_RUN_ID" } },
  GREETING,
  WHOLE,
  saying("words that the agent never said", { ...ANSWER, id: "x", content: "admin" }, NEXT),
  saying("other words of the person", { ...SAID, content: "other" }, NEXT),
  saying("other words of the agent", { ...ANSWER, content: "other" }, NEXT),
  saying("another result", { id: "t9", role: "tool", toolCallId: "c2", content: "other" }),
];
const ALL: readonly Act[] = [...REQUESTS, ...ACTS, ...CONTINUATIONS];
/** Acts per client. */
const RUNS = Number(process.env["COUNTERSIGN_PROPERTY_RUNS"] ?? 12);

let fixture: Fixture;
let script: readonly object[] = [];
let count = 0;
beforeAll(async () => {
  fixture = await startFixture(
    ({ body }) => {
      const ids = idsOf(body);
      const events = JSON.stringify(script)
        .replaceAll("THREAD", ids.threadId)
        .replaceAll("RUN_ID", ids.runId);
      const made = JSON.parse(events) as { type?: string }[];
      const [first] = made;
      const whole = inRun(ids, made);
      return { pieces: (first?.type === "RUN_STARTED" ? whole.slice(1) : whole).map(sseFrame) };
    },
    { policy: POLICY, gateway: { access: keyAccess({ allowAnonymous: true }) } },
  );
});
afterAll(() => fixture.stop());

/** How a client is known: its session and its key. */
type Client = { readonly session?: string; readonly key?: string };
/** Sends one input and waits for the end of its run, or for its refusal. */
type Connection = {
  run(input: { runId: string; [member: string]: unknown }): Promise<void>;
  close(): void;
};

const queryOf = ({ session }: Client): string =>
  session === undefined ? "" : `session=${session}`;
const headersOf = ({ key }: Client): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };

const CONNECTIONS = {
  POST: (client: Client): Connection => ({
    run: async (input) => {
      const url = `${fixture.url}/agents/support?${queryOf(client)}`;
      const body = JSON.stringify(input);
      await (await fetch(url, { method: "POST", headers: headersOf(client), body })).text();
    },
    close: () => {},
  }),
  GET: (client: Client): Connection => ({
    run: async ({ runId }) => {
      const url = `${fixture.url}/ag-ui/stream?${queryOf(client)}&run=${runId}`;
      await (await fetch(url, { headers: headersOf(client) })).text();
    },
    close: () => {},
  }),
  WebSocket: (client: Client): Connection => {
    const url = `${fixture.webSocketUrl}/agents/support/ws?${queryOf(client)}`;
    const socket = new WebSocket(url, { headers: headersOf(client) });
    const opened = new Promise((resolve) => socket.once("open", resolve));
    return {
      run: async (input) => {
        await opened;
        await new Promise<void>((resolve) => {
          const read = (data: unknown): void => {
            const { type } = JSON.parse(String(data)) as { type: string };
            if (type !== "RUN_FINISHED" && type !== "RUN_ERROR") return;
            socket.off("message", read);
            resolve();
          };
          socket.on("message", read);
          // A refusal can close the socket.
          socket.once("close", () => resolve());
          socket.send(JSON.stringify(input));
        });
      },
      close: () => socket.close(),
    };
  },
} as const;

type Transport = keyof typeof CONNECTIONS;
/** The connections of the first and the second run; `same` is the connection of the first. */
const PATHS: readonly (readonly [first: Transport, second: Transport | "same"])[] = [
  ["POST", "POST"],
  ["POST", "WebSocket"],
  ["WebSocket", "POST"],
  ["WebSocket", "WebSocket"],
  ["WebSocket", "same"],
  ["POST", "GET"],
  ["WebSocket", "GET"],
];
const CLIENTS = { "no session": {}, "a session": { isNamed: true }, "a key": { key: KEYS.alice } };

/** The decisions about the request and the events of the second run. */
async function verdictsOf(
  [first, second]: (typeof PATHS)[number],
  { isNamed, key }: { isNamed?: boolean; key?: string },
  { first: said = [...FIRST_RUN, ...ANSWER_EVENTS], events, request = {} }: Act,
): Promise<unknown[]> {
  const threadId = `t${(count += 1)}`;
  // A GET stream names its thread by the session.
  const session = isNamed === true || second === "GET" ? { session: threadId } : {};
  const client = { ...session, ...(key === undefined ? {} : { key }) };
  const one = CONNECTIONS[first](client);
  script = said;
  const input = { threadId, protocolVersion: "1.0", tools: [], context: [] };
  const state = { user: { role: "viewer" }, ui: 1 };
  const firstRunId = `${threadId}-1`;
  await one.run({ ...input, runId: firstRunId, messages: [SAID], tools: [ASK], state });
  const other = second === "same" ? one : CONNECTIONS[second](client);
  const { drafts } = fixture.recorder;
  const before = drafts.length;
  script = events;
  const sent = { ...input, runId: `${threadId}-2`, messages: [], ...request };
  const body = JSON.stringify(sent).replaceAll("FIRST_RUN_ID", firstRunId);
  await other.run(JSON.parse(body) as { runId: string });
  one.close();
  other.close();
  return drafts
    .slice(before)
    .map(({ direction, receipt, rule }) => [direction, receipt.event_type, receipt.allowed, rule]);
}

test.each(Object.entries(CLIENTS))(
  "the second run of a thread gets the same verdict over every connection, with %s",
  async (_, client) => {
    const acts = fc.constantFrom(...ALL.map(({ name }) => name));
    await fc.assert(
      fc.asyncProperty(acts, async (name) => {
        const act = ALL.find((one) => one.name === name);
        if (act === undefined) return;
        const [reference, ...others] = PATHS;
        const expected = await verdictsOf(reference ?? ["POST", "POST"], client, act);
        for (const path of others) {
          // A GET stream has no request, and names a session.
          const isGet = path[1] === "GET";
          if (isGet && (act.request !== undefined || !("isNamed" in client))) continue;
          const told = await verdictsOf(path, client, act);
          expect([name, path, told]).toEqual([name, path, expected]);
        }
      }),
      { numRuns: RUNS, examples: REQUESTS.map(({ name }): [string] => [name]) },
    );
  },
  60_000,
);

test("a client may repeat the whole conversation on another connection, and a greeting begins a new thread only", async () => {
  for (const client of Object.values(CLIENTS)) {
    for (const path of PATHS.slice(0, 5)) {
      const verdicts = await verdictsOf(path, client, WHOLE);
      expect(verdicts[0]).toEqual(["inbound", expect.anything(), true, undefined]);
      const [[, , isAccepted] = []] = (await verdictsOf(path, client, GREETING)) as unknown[][];
      expect(isAccepted).toBe(false);
    }
  }
});
