import { createCapabilityVerifier, createRevocationList } from "@countersign/capability";
import { createCapabilityIssuer } from "@countersign/capability/issue";
import { generateKey } from "@countersign/core/sign";
import { createFakeClock, sseFrame } from "@countersign/testkit";
import type { FakeClock, FakePiece } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import type { TokenVerifier } from "../../access/capabilities.js";
import { runClient } from "../../testing/client.js";
import { envelope } from "../../testing/envelopes.js";
import { call, idsOf, inRun, text } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { post, sseEvents } from "../../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const policyWith = (agUi: string, rest = ""): string => `hushspec: "0.1.0"
name: test
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
${agUi}  ag_ui_inbound: { default: allow }
${rest}`;

const NOTIFY = { type: "CUSTOM", name: "vendor.notify", value: { text: "look" } };
const CLASSIFY = `  ag_ui_classify:
    custom:
      - { match: vendor.notify, event_type: notification, classification: alert, target: { component_type: toast } }
`;

/** An issuer, and the verifier that trusts it. */
function createTokens(clock: FakeClock): {
  verifier: TokenVerifier;
  issue(scopes: string[], seconds: number, sessionId?: string): Promise<string>;
  revoke(id: string): void;
} {
  const issuer = createCapabilityIssuer({ key: generateKey() });
  const revocations = createRevocationList();
  const verifier = createCapabilityVerifier({ issuers: [issuer.issuer], revocations, clock });
  return {
    verifier: verifier as TokenVerifier,
    issue: async (scopes, seconds, sessionId = "s") => {
      const now = Math.floor(clock.now() / 1000);
      const grant = { id: "cap-1", agent: "support", sessionId, scopes };
      return (await issuer.issue({ ...grant, notBefore: now, expiresAt: now + seconds })).token;
    },
    revoke: (id) => revocations.revoke({ capability_id: id, revoked_at: 0 }),
  };
}

async function start(
  events: readonly object[],
  policy: string,
  options: Parameters<typeof startFixture>[1] = {},
  headers: Record<string, string> = {},
): Promise<string> {
  fixture = await startFixture(
    (request) => ({ headers, pieces: inRun(idsOf(request.body), events).map(sseFrame) }),
    { policy, ...options },
  );
  return `${fixture.url}/agents/support`;
}

const SESSION = { "x-amzn-bedrock-agentcore-runtime-session-id": "s" };

test("a token of the session allows what it names, and the receipt names the token", async () => {
  const clock = createFakeClock();
  const tokens = createTokens(clock);
  const gateway = { clock, tokens: tokens.verifier };
  const url = await start([NOTIFY], policyWith("", CLASSIFY), { gateway });
  const without = await runClient(url, { headers: SESSION });
  expect(without.types).not.toContain("CUSTOM");
  fixture?.gateway.context.sessions.addToken("s", {
    token: await tokens.issue(["ui:alert:toast"], 60),
  });
  const withToken = await runClient(url, { headers: SESSION, threadId: "t2" });
  expect(withToken.types).toContain("CUSTOM");
  const receipt = fixture?.recorder.drafts.findLast(
    ({ receipt: { classification } }) => classification === "alert",
  )?.receipt;
  expect(receipt).toMatchObject({ capability_id: "cap-1", allowed: true });
  const other = await runClient(url, { headers: { [Object.keys(SESSION)[0] as string]: "other" } });
  expect(other.types).not.toContain("CUSTOM");
});

test("a token in the header of the agent's response applies to that run alone", async () => {
  const clock = createFakeClock();
  const tokens = createTokens(clock);
  const token = await tokens.issue(["ui:alert:toast"], 60);
  const answer = { "countersign-capability": token };
  const gateway = { clock, tokens: tokens.verifier };
  const url = await start([NOTIFY], policyWith("", CLASSIFY), { gateway }, answer);
  const run = await runClient(url, { headers: SESSION });
  expect(run.types).toContain("CUSTOM");
  expect(JSON.stringify(run.events)).not.toContain(token);
  delete (answer as Record<string, string>)["countersign-capability"];
  expect((await runClient(url, { headers: SESSION, threadId: "t2" })).types).not.toContain(
    "CUSTOM",
  );
});

test("a token on an envelope allows that envelope, and is never forwarded", async () => {
  const clock = createFakeClock();
  const tokens = createTokens(clock);
  const token = await tokens.issue(["ui:alert:toast"], 60);
  const alert = {
    event_type: "notification",
    classification: "alert",
    target: { component_type: "toast" },
  };
  fixture = await startFixture(
    () => ({
      pieces: [
        sseFrame(envelope("evt_1", { ...alert, capability: token })),
        sseFrame(envelope("evt_2", alert)),
        sseFrame(envelope("evt_3", { ...alert, capability: "forged" })),
      ],
    }),
    {
      policy: policyWith(""),
      target: { transport: "get-sse", dialect: "chio" },
      gateway: { clock, tokens: tokens.verifier },
    },
  );
  const body = await (await fetch(`${fixture.url}/ag-ui/stream?session=s`)).text();
  expect(sseEvents(body)).toEqual([envelope("evt_1", alert)]);
  expect(fixture.recorder.drafts.slice(1).map(({ receipt }) => receipt.denial_reason)).toEqual([
    undefined,
    "capability required for Alert events",
    expect.stringContaining("capability"),
  ]);
});

test("an envelope whose token needs a reservation waits for it, and all arrive in order", async () => {
  const clock = createFakeClock();
  const tokens = createTokens(clock);
  const [first, second] = [
    await tokens.issue(["ui:alert:toast"], 60),
    await tokens.issue(["ui:alert:toast"], 60),
  ];
  const atHand = new Set<unknown>();
  const alert = {
    event_type: "notification",
    classification: "alert",
    target: { component_type: "toast" },
  };
  const sent = [first, first, second, undefined].map((capability, index) =>
    envelope(`evt_${index}`, capability === undefined ? {} : { ...alert, capability }),
  );
  fixture = await startFixture(() => ({ pieces: [sent.map(sseFrame).join("")] }), {
    policy: policyWith(""),
    target: { transport: "get-sse", dialect: "chio" },
    gateway: {
      clock,
      tokens: {
        ...tokens.verifier,
        evaluate: (token, context) =>
          atHand.has(token)
            ? tokens.verifier.evaluate(token, context)
            : { id: "asked for", status: "exhausted", scopes: [] },
        reserve: (token) =>
          atHand.has(token)
            ? undefined
            : new Promise((resolve) => setTimeout(resolve, 20)).then(() => void atHand.add(token)),
      },
    },
  });
  const body = await (await fetch(`${fixture.url}/ag-ui/stream?session=s`)).text();
  expect(sseEvents(body).map((event) => event["event_id"])).toEqual(
    sent.map((one) => one["event_id"]),
  );
});

test.each(["expires", "is revoked"])("a token that %s closes what it opened", async (how) => {
  const clock = createFakeClock();
  const tokens = createTokens(clock);
  let go = (): void => {};
  const word = new Promise<void>((resolve) => {
    go = resolve;
  });
  const policy = policyWith("").replace(
    "allow_display_without_capability: true",
    "allow_display_without_capability: false",
  );
  fixture = await startFixture(
    (request) => ({
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        const ids = idsOf(request.body);
        const more = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "after" };
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        yield* text("m", "before").slice(0, 2).map(sseFrame);
        await word;
        yield sseFrame(more);
        yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m" });
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    }),
    { policy, gateway: { clock, tokens: tokens.verifier } },
  );
  const { sessions } = fixture.gateway.context;
  sessions.addToken("s", { token: await tokens.issue(["ui:display:*"], 60) });
  const url = `${fixture.url}/agents/support?session=s`;
  const response = await post(url, { threadId: "t", runId: "r" });
  const body = response.text();
  await vi.waitFor(() => expect(fixture?.recorder.drafts).toHaveLength(4));
  if (how === "expires") clock.advance(61_000);
  else tokens.revoke("cap-1");
  go();
  const events = sseEvents(await body);
  expect(JSON.stringify(events)).not.toContain("after");
  // The client receives the end of the message; without a token even the end of the run is blocked.
  expect(events.map(({ type }) => type)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_ERROR",
  ]);
});

test("max_events_per_second counts per connection: it blocks a flood, and no other connection", async () => {
  const clock = createFakeClock();
  const flood = Array.from({ length: 30 }, (_, index) => text(`m${index}`, "x")).flat();
  fixture = await startFixture(
    (request) => {
      const ids = idsOf(request.body);
      return {
        pieces: inRun(ids, ids.threadId === "flood" ? flood : text("m", "ok")).map(sseFrame),
      };
    },
    { policy: policyWith("    max_events_per_second: 20\n"), gateway: { clock } },
  );
  const url = `${fixture.url}/agents/support`;
  const run = await runClient(url, { threadId: "flood", headers: SESSION });
  expect(run.error).toBeUndefined();
  expect(run.events.length).toBeLessThanOrEqual(22);
  expect(run.types.at(-1)).toBe("RUN_ERROR");
  const blocked = fixture.recorder.drafts.find(({ receipt }) => !receipt.allowed);
  expect(blocked?.receipt.denial_reason).toBe("more than 20 events in one second");
  const other = await runClient(url, { threadId: "calm", headers: SESSION });
  expect(other.types.at(-1)).toBe("RUN_FINISHED");
});

test("text beyond max_events_per_second ends the run, under every on_block", async () => {
  for (const onBlock of ["drop", "notice", "end"]) {
    const clock = createFakeClock();
    const deltas = Array.from({ length: 40 }, (_, index) => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "m",
      delta: `${index} `,
    }));
    const [start, , end] = text("m", "");
    const policy = policyWith("    max_events_per_second: 20\n").replace(
      "rules:",
      `on_block: ${onBlock}\nrules:`,
    );
    const gateway: Fixture = await startFixture(
      ({ body }) => ({
        pieces: (async function* () {
          const [first, last] = inRun(idsOf(body), []);
          yield [first, start, ...deltas].map((event) => sseFrame(event as object)).join("");
          // The rest of the run arrives when the cap has room again.
          await vi.waitFor(
            () =>
              expect(gateway.recorder.drafts.some(({ receipt }) => !receipt.allowed)).toBe(true),
            20_000,
          );
          clock.advance(400_000);
          yield [end, last].map((event) => sseFrame(event as object)).join("");
        })(),
      }),
      { policy, gateway: { clock } },
    );
    const run = await runClient(`${gateway.url}/agents/support`, { headers: SESSION });
    await gateway.stop();
    expect([onBlock, run.types.at(-1)]).toEqual([onBlock, "RUN_ERROR"]);
    expect(run.types).not.toContain("TEXT_MESSAGE_END");
  }
});

test("velocity counts per session, over all its runs", async () => {
  const clock = createFakeClock();
  const velocity = `  velocity:
    scope: session
    match: { event_type: notification }
    max_invocations: 3
    window_seconds: 300
`;
  const url = await start(
    [NOTIFY, NOTIFY],
    policyWith("    restricted_classifications: [navigate]\n", `${CLASSIFY}${velocity}`),
    { gateway: { clock } },
  );
  const count = async (session: string, threadId: string): Promise<number> => {
    const headers = { [Object.keys(SESSION)[0] as string]: session };
    const run = await runClient(url, { headers, threadId });
    return run.types.filter((type) => type === "CUSTOM").length;
  };
  expect(await count("s", "t1")).toBe(2);
  expect(await count("s", "t2")).toBe(1);
  expect(await count("s", "t3")).toBe(0);
  expect(await count("other", "t4")).toBe(2);
  clock.advance(400_000);
  expect(await count("s", "t5")).toBe(2);
});

const MIXED = [
  ...text("m", "fine"),
  NOTIFY,
  { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "form", content: { x: 1 } },
  { type: "ACTIVITY_DELTA", messageId: "a", activityType: "form", patch: [] },
  ...text("x", "in your name", { role: "user" }),
  {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      {
        id: "q",
        role: "assistant",
        content: "hi",
        toolCalls: [{ id: "c", type: "function", function: { name: "danger", arguments: "{}" } }],
      },
    ],
    rawEvent: { kept: true },
  },
  ...call("c2", "danger", "{}"),
];
const TOOLS = "  ag_ui_tools: { call: { block: [danger], default: allow } }\n";

test("observe mode changes nothing on the wire and records what enforce mode would block", async () => {
  const rules = (mode: string): string =>
    `mode: ${mode}\n${policyWith("", `${CLASSIFY}${TOOLS}`)}`.replace(
      /^mode.*\n(hushspec.*\n)/u,
      `$1mode: ${mode}\n`,
    );
  const url = await start(MIXED, rules("observe"));
  const observed = await runClient(url, { runId: "same" });
  expect(observed.error).toBeUndefined();
  expect(observed.types.slice(1, -1)).toEqual(MIXED.map(({ type }) => type));
  const remarks = fixture?.recorder.drafts ?? [];
  expect(remarks.every(({ receipt, mode }) => receipt.allowed && mode === "observe")).toBe(true);
  const rulesOf = (drafts: typeof remarks): Set<string | undefined> =>
    new Set(drafts.map(({ rule }) => rule));
  await fixture?.stop();

  const enforcing = await start(MIXED, rules("enforce"));
  const enforced = await runClient(enforcing, { runId: "same" });
  expect(enforced.types.slice(1, -1)).toEqual(text("m", "fine").map(({ type }) => type));
  const blocked = fixture?.recorder.drafts ?? [];
  expect(rulesOf(remarks)).toEqual(rulesOf(blocked));
  expect(blocked.filter(({ receipt }) => !receipt.allowed).length).toBe(
    blocked.filter(({ rule }) => rule !== undefined).length,
  );
});

test("on_block: notice names the receipt of a withheld unit, once per unit, and breaks no client", async () => {
  const url = await start(
    [
      { type: "TEXT_MESSAGE_CHUNK", messageId: "k", delta: "a" },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "form", content: { x: "s3cret" } },
      { type: "ACTIVITY_DELTA", messageId: "a", activityType: "form", patch: [] },
      { type: "TEXT_MESSAGE_CHUNK", delta: "b" },
    ],
    policyWith("    on_block: notice\n"),
  );
  for (const version of ["1.0.0", "0.0.59", "0.0.55"] as const) {
    const run = await runClient(url, { version, threadId: version });
    expect(run.error).toBeUndefined();
    const notices = run.events.filter(({ type }) => type === "CUSTOM");
    expect(notices).toMatchObject([
      {
        name: "countersign.blocked",
        value: {
          receipt: expect.stringMatching(/^agui-evt_/u),
          type: "ACTIVITY_SNAPSHOT",
          classification: "create",
          reason: "capability required for Create events",
        },
      },
    ]);
    expect(JSON.stringify(run.events)).not.toContain("s3cret");
    expect(run.messages.find(({ id }) => id === "k")?.content).toBe("ab");
    expect(run.types.at(-1)).toBe("RUN_FINISHED");
  }
});

test("on_block: end ends the run with the reason, and cancels the agent", async () => {
  const url = await start(
    [NOTIFY, ...text("m", "never")],
    policyWith("    on_block: end\n", CLASSIFY),
  );
  const run = await runClient(url);
  expect(run.error).toBeUndefined();
  expect(run.types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  expect(run.events.at(-1)).toMatchObject({
    code: "BLOCKED_BY_POLICY",
    message: "the run was ended by policy: capability required for Alert events",
    metadata: {
      countersign: {
        problem: { code: "BLOCKED_BY_POLICY", receipt: expect.stringMatching(/^agui-evt_/) },
      },
    },
  });
});

test("counters of the connection and the session report forwarded and blocked events", async () => {
  const url = await start([NOTIFY, ...text("m", "hi")], policyWith("", CLASSIFY));
  await runClient(url, { headers: SESSION });
  const session = fixture?.gateway.context.sessions.find("s");
  expect(session?.counters).toEqual({ forwarded: 5, blocked: 1 });
  expect([...(session?.runs.values() ?? [])][0]?.counters).toEqual({ forwarded: 5, blocked: 1 });
  const feed = fixture?.gateway.context.feed.recent() ?? [];
  expect(feed.map(({ type, allowed }) => [type, allowed])).toContainEqual(["CUSTOM", false]);
});

test("a request that the policy blocks is a 403 without payload, with a receipt", async () => {
  const policy = policyWith("").replace("default: allow", "default: block");
  const url = await start(text("m", "hi"), policy);
  const run = await runClient(url, {
    messages: [{ id: "u", role: "user", content: "s3cret" }],
  });
  expect(run.error).toMatchObject({ status: 403 });
  expect(run.error?.message).toContain("ERR_INBOUND_BLOCKED");
  expect(run.error?.message).not.toContain("s3cret");
  expect(fixture?.agentRequests).toHaveLength(0);
  expect(fixture?.recorder.drafts).toMatchObject([
    { direction: "inbound", receipt: { allowed: false } },
  ]);
});
