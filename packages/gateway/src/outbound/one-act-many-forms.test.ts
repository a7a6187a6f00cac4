import type { Message } from "@countersign/wire";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { AGENT_TRANSPORTS, post, socketRun, sseEvents } from "../testing/transports.js";
import {
  answerForTheClient,
  ASK,
  BASE,
  callTool,
  changeState,
  finishImage,
  rewriteCall,
  rewriteThePerson,
  SAID,
  say,
  showComponent,
  speakAs,
  STATE,
} from "../testing/acts.js";
import type { Act, Form } from "../testing/acts.js";
import { Person } from "../testing/person.js";

/**
 * One act gets one verdict in every form. A policy that forbids it forbids every form of it, over every transport and for any part of the
 * history in the request. A policy that permits it blocks none of them.
 */
const ACTS: Readonly<Record<string, Act>> = {
  "say something harmless": say("All is **well**: see [the page](https://docs.example/a).", false),
  "say code": say("```html\n<script>alert(1)</script>\n```\n", false),
  "show an image of another host": say("![a](https://tracker.example/?d=1)", true),
  "show an image by a reference": say("![a][b]\n\n[b]: https://tracker.example/x\n", true),
  "show a link that runs": say("[go](javascript:alert(1))", true),
  "show active HTML": say('<img src="x" onerror="alert(1)">', true),
  "hide text": say(`a${"\u{e0041}".repeat(12)}b`, true),
  "finish an image": finishImage(),
  "speak as the user": speakAs("user"),
  "speak as the system": speakAs("system"),
  "change what the person said": rewriteThePerson(),
  "change a call": rewriteCall(),
  "answer for the client": answerForTheClient(),
  "call a tool": callTool("lookup", '{"order":9}', false),
  "call a blocked tool": callTool("delete_user", "{}", true),
  "pay little": callTool("pay", '{"amount":5}', false),
  "pay too much": callTool("pay", '{"amount":5000}', true),
  "show a card": showComponent("card", false),
  "show a login form": showComponent("login-form", true),
  "change the theme": changeState([{ op: "replace", path: "/theme", value: "dark" }], false),
  "change the plan": changeState([{ op: "replace", path: "/account/plan", value: "pro" }], false),
  "change the role": changeState([{ op: "replace", path: "/account/role", value: "admin" }], true),
  "remove the role": changeState([{ op: "remove", path: "/account/role" }], true),
  "remove the account": changeState([{ op: "remove", path: "/account" }], true),
  "rename the first item": changeState([{ op: "add", path: "/items/0/name", value: "x" }], true),
  "move the role away": changeState(
    [{ op: "move", from: "/account/role", path: "/account/was" }],
    true,
  ),
  "add an item in front": changeState(
    [{ op: "add", path: "/items/0", value: { name: "x" } }],
    true,
  ),
};

/** The history that the client sends in the second run; `none` puts the act into the first run. */
const HISTORIES = ["none", "full", "tail", "GET"] as const;
type History = (typeof HISTORIES)[number];

const POLICY = `hushspec: "0.1.0"
name: one-act
on_block: drop
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: [submit]
  ag_ui_inbound: { default: allow, allow_classifications: [display, mutate, submit] }
`;

/** Streams of the agent by run id: each test run has a thread of its own. */
const streams = new Map<string, readonly object[]>();
const fixtures = new Map<string, Promise<Fixture>>();
afterAll(async () => {
  for (const fixture of fixtures.values()) await (await fixture).stop();
});

function gatewayFor(rules: string, transport: string, dialect: "auto" | "chio"): Promise<Fixture> {
  const key = `${dialect} ${transport}\n${rules}`;
  const { target, answer } = AGENT_TRANSPORTS[transport] ?? { target: {} };
  const started =
    fixtures.get(key) ??
    startFixture(
      ({ body }) => {
        const ids = idsOf(body);
        const events = streams.get(ids.runId) ?? [];
        return answer?.(dialect === "chio" ? events : inRun(ids, events)) ?? { pieces: [] };
      },
      { policy: `${POLICY}${rules}`, target: { ...target, dialect } },
    );
  fixtures.set(key, started);
  return started;
}

type Case = {
  readonly act: Act;
  readonly form: Form;
  readonly cut: number;
  readonly history: History;
  readonly client: "POST" | "WebSocket";
  readonly agent: string;
};

let count = 0;

/** Has an agent do it, and returns the messages of the client afterwards. */
async function perform({ act, form, cut, history, client, agent }: Case): Promise<Person> {
  const fixture = await gatewayFor(act.rules, agent, "auto");
  const threadId = `thread-${(count += 1)}`;
  const first = { threadId, runId: `${threadId}-1` };
  let person = new Person([SAID], STATE);
  // The agent knows which messages of the first run the person will have.
  const known = new Person([SAID], STATE);
  known.show(BASE);
  streams.set(first.runId, history === "none" ? [...BASE, ...form(known, cut)] : BASE);
  const common = { tools: [ASK], state: STATE };
  person.show(await ask(fixture, { ...first, ...common, messages: [SAID] }, client));
  if (history === "none") return person;
  expect(person.view.messages.map(({ id }) => id)).toEqual(known.view.messages.map(({ id }) => id));
  const second = { threadId, runId: `${threadId}-2` };
  const next: Message = { id: "u2", role: "user", content: "Go on." };
  if (history === "GET") {
    streams.set(second.runId, form(person, cut));
    const url = `${fixture.url}/ag-ui/stream?session=${threadId}&run=${second.runId}`;
    person.show(sseEvents(await (await fetch(url)).text()));
    return person;
  }
  const sent = history === "full" ? person.view.messages.filter(isSentBack) : [];
  const { state } = person.view;
  person = person.says(next);
  streams.set(second.runId, form(person, cut));
  const messages = [...sent, next];
  person.show(await ask(fixture, { ...second, ...common, state, messages }, client));
  return person;
}

const isSentBack = ({ role }: Message): boolean => role !== "activity";

async function ask(
  fixture: Fixture,
  input: { threadId: string; [member: string]: unknown },
  client: Case["client"],
): Promise<object[]> {
  const query = `?session=${input.threadId}`;
  if (client === "WebSocket") return socketRun(`${fixture.webSocketUrl}/ws${query}`, input);
  const response = await post(`${fixture.url}/agents/support${query}`, input);
  const body = await response.text();
  if (response.status !== 200) throw new TypeError(`the gateway refused the request: ${body}`);
  return sseEvents(body);
}

function isStricter({ stricter = [] }: Act, form: string, history: History): boolean {
  return stricter.includes(form) || (history === "GET" && stricter.includes(`${form} over GET`));
}

const RUNS = Number(process.env["ONE_ACT_RUNS"] ?? 80);

test.each(Object.entries(ACTS))("%s: one verdict in every form", async (_, act) => {
  const forms = Object.keys(act.forms);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        name: fc.constantFrom(...forms),
        cut: fc.nat(40),
        history: fc.constantFrom(...HISTORIES),
        client: fc.constantFrom("POST" as const, "WebSocket" as const),
        agent: fc.constantFrom("POST + SSE", "POST + protobuf", "WebSocket, JSON frames"),
      }),
      async ({ name, ...chosen }) => {
        const form = act.forms[name];
        if (form === undefined) throw new TypeError(`no form ${name}`);
        const person = await perform({ act, form, ...chosen });
        const happened = act.happened(person);
        if (!happened && !act.isForbidden && isStricter(act, name, chosen.history)) return;
        expect(happened).toBe(!act.isForbidden);
      },
    ),
    { numRuns: RUNS },
  );
});

/** Acts of an agent whose configuration says that it sends envelopes. */
const ENVELOPED = Object.entries(ACTS).flatMap(([name, act]) =>
  Object.entries(act.envelopes ?? {}).map(([form, events]) => ({ name, form, act, events })),
);

test.each(ENVELOPED)(
  "$name in envelopes, $form: the same verdict",
  async ({ act, form, events }) => {
    const fixture = await gatewayFor(act.rules, "POST + SSE", "chio");
    const threadId = `thread-${(count += 1)}`;
    const run = { threadId, runId: `${threadId}-1` };
    streams.set(run.runId, events);
    const person = new Person([SAID], STATE);
    person.show(await ask(fixture, { ...run, messages: [SAID] }, "POST"));
    if (act.stricter?.includes(form) === true && !act.isForbidden) return;
    expect(act.happened(person)).toBe(!act.isForbidden);
  },
);
