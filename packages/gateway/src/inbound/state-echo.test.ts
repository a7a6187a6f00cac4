import { HttpAgent } from "@ag-ui/client";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import type { GatewayOptions } from "../serve/gateway.js";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

/** Text passes; a change of the state needs a token. */
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: block, allow_classifications: [display] }
`;
const STATE = [
  { type: "STATE_SNAPSHOT", snapshot: { cart: ["tea"], total: 3 } },
  { type: "STATE_DELTA", delta: [{ op: "add", path: "/cart/-", value: "milk" }] },
  // Clients keep their state if a patch does not apply.
  { type: "STATE_DELTA", delta: [{ op: "remove", path: "/nowhere" }] },
  { type: "STATE_DELTA", delta: [{ op: "replace", path: "/total", value: 5 }] },
];

let fixture: Fixture;
afterEach(() => fixture.stop());

/** The first run sends a state, complete or broken off after a part of it; the others send none. */
async function begin(
  isCut = false,
  policy = POLICY,
  gateway: Partial<GatewayOptions> = {},
): Promise<void> {
  fixture = await startFixture(
    ({ body }) => {
      const isFirst = fixture.agentRequests.length <= 1;
      const events = inRun(idsOf(body), isFirst ? STATE : []);
      return { pieces: (isFirst && isCut ? events.slice(0, 3) : events).map(sseFrame) };
    },
    { policy, gateway },
  );
}

let runs = 0;
async function send(state: unknown, forwardedProps: object = {}): Promise<number> {
  runs += 1;
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({
      threadId: "t",
      runId: `r${runs}`,
      protocolVersion: "1.0",
      messages: [],
      state,
      forwardedProps,
    }),
  });
  await response.text();
  return response.status;
}

test("the official client sends back the state that it has, and needs no token for it", async () => {
  await begin();
  const agent = new HttpAgent({ url: `${fixture.url}/agents/support`, threadId: "t" });
  await agent.runAgent({ runId: "first" });
  expect(agent.state).toEqual({ cart: ["tea", "milk"], total: 5 });
  await agent.runAgent({ runId: "second" });
  await agent.runAgent({ runId: "third" });
  expect(fixture.agentRequests).toHaveLength(3);
  agent.setState({ ...agent.state, role: "admin" });
  await expect(agent.runAgent({ runId: "fourth" })).rejects.toThrow();
  expect(fixture.agentRequests).toHaveLength(3);
});

test("only the newest state is an echo, in any order of its keys", async () => {
  await begin();
  expect(await send({})).toBe(200);
  expect(await send({ cart: ["tea"], total: 3 })).toBe(403);
  expect(await send({ cart: ["tea", "milk"], total: 3 })).toBe(403);
  expect(await send({ total: 5, cart: ["tea", "milk"] })).toBe(200);
  expect(await send({ total: 5, cart: ["milk", "tea"] })).toBe(403);
});

test("after a run that broke off, every delivered state is an echo, and no other is", async () => {
  await begin(true);
  expect(await send({})).toBe(200);
  expect(await send({ cart: ["tea", "milk"], total: 5 })).toBe(403);
  expect(await send({ cart: ["tea"], total: 3 })).toBe(200);
});

const inMode = (policy: string, mode: string): string =>
  policy.replace("rules:", `mode: ${mode}\nrules:`);
const KEYS = `${POLICY}  ag_ui_classify: { input: { state: { classification: display } } }
  ag_ui_request: { state: { keys: [ui] } }
`;

test.each([
  ["refuses what browsers write", POLICY, inMode(POLICY, "observe")],
  ["has a list of keys", KEYS, KEYS.replace("request: {", "request: { mode: observe,")],
])(
  "a state that passed an observing policy which %s is not an echo once the policy enforces",
  async (_what, enforcing, observing) => {
    const policy = createPolicyHolder(compilePolicy(loadPolicy(observing)));
    await begin(false, POLICY, { policy });
    for (const state of [{}, { cart: ["tea", "milk"], total: 5 }, { role: "admin" }]) {
      expect(await send(state)).toBe(200);
    }
    expect(policy.replace(enforcing).replaced).toBe(true);
    expect(await send({ role: "admin" })).toBe(403);
  },
);

test("findings are recorded first, and hide no state that the policy would have refused", async () => {
  const policy = createPolicyHolder(compilePolicy(loadPolicy(inMode(POLICY, "observe"))));
  await begin(false, POLICY, { policy });
  expect(await send({}, {})).toBe(200);
  expect(await send({ role: "admin" }, { user: "x" })).toBe(200);
  const entry = fixture.recorder.drafts.findLast(({ direction }) => direction === "inbound");
  expect(entry?.rule).toBe("ag_ui_request.forwarded_props");
  expect(entry?.receipt.allowed).toBe(true);
  expect(policy.replace(POLICY).replaced).toBe(true);
  expect(await send({ role: "admin" })).toBe(403);
});

test("another thread's state is not an echo", async () => {
  await begin();
  expect(await send({})).toBe(200);
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({
      threadId: "other",
      runId: "o1",
      protocolVersion: "1.0",
      messages: [],
      state: { cart: ["tea", "milk"], total: 5 },
    }),
  });
  expect(response.status).toBe(403);
});

test("a list of the keys that a browser may write does not refuse the agent's keys", async () => {
  await begin(false, KEYS);
  expect(await send({ ui: 1 })).toBe(200);
  expect(await send({ total: 5, cart: ["tea", "milk"] })).toBe(200);
  expect(await send({ total: 6, cart: ["tea", "milk"] })).toBe(403);
});

test("a browser writes its own key and sends the agent's keys back, and needs no token for either", async () => {
  const paths = "{ state: [{ match: /ui/**, classification: display }] }";
  await begin(false, `${POLICY}  ag_ui_classify: ${paths}\n`);
  expect(await send({ ui: 1 })).toBe(200);
  expect(await send({ total: 5, cart: ["tea", "milk"], ui: { open: true } })).toBe(200);
  expect(await send({ total: 5, cart: ["tea", "milk"], ui: { open: false } })).toBe(200);
  expect(await send({ total: 6, cart: ["tea", "milk"], ui: { open: false } })).toBe(403);
  expect(await send({ total: 5, cart: ["tea", "milk"], ui: 2, role: "admin" })).toBe(403);
  // An agent could read a missing key as an answer.
  expect(await send({ cart: ["tea", "milk"], ui: 2 })).toBe(403);
});

test("a list of keys applies to the keys that a browser writes beside those it sends back", async () => {
  await begin(false, KEYS);
  expect(await send({})).toBe(200);
  expect(await send({ total: 5, cart: ["tea", "milk"], ui: 1 })).toBe(200);
  expect(await send({ total: 5, cart: ["tea"], ui: 1 })).toBe(403);
  expect(await send({ total: 5, cart: ["tea", "milk"], ui: 1, role: "admin" })).toBe(403);
});

test("after a run that broke off, a browser's own key may come with one of the delivered states, not with a mixture", async () => {
  await begin(true, KEYS);
  expect(await send({})).toBe(200);
  expect(await send({ cart: ["tea"], total: 5, ui: 1 })).toBe(403);
  expect(await send({ cart: ["tea"], total: 3, ui: 1 })).toBe(200);
});
