import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createTelemetry } from "../telemetry/telemetry.js";
import { requestPolicy, sendTo } from "../testing/begun-thread.js";
import type { Answer } from "../testing/begun-thread.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

type Json = Record<string, unknown>;

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const telemetry = createTelemetry();

async function open(policy: string): Promise<Fixture> {
  let run = 0;
  fixture = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), text(`a${(run += 1)}`, "hi")).map(sseFrame) }),
    { policy, gateway: { telemetry } },
  );
  return fixture;
}

let threads = 0;
/** A request with every place where AG-UI closes the set of keys, on a thread of its own. */
function request(): Json {
  threads += 1;
  const source = { type: "url", value: "https://a.example/a.png" };
  return {
    threadId: `t${threads}`,
    runId: "r",
    protocolVersion: "1.0",
    messages: [
      {
        id: "u",
        role: "user",
        content: [
          { type: "text", text: "hello" },
          { type: "image", source },
        ],
      },
    ],
    tools: [{ name: "ask", description: "asks", parameters: { type: "object" } }],
    context: [{ description: "page", value: "1" }],
  };
}

const PLACES: Readonly<Record<string, readonly (string | number)[]>> = {
  request: [],
  message: ["messages", 0],
  part: ["messages", 0, "content", 0],
  source: ["messages", 0, "content", 1, "source"],
  tool: ["tools", 0],
  context: ["context", 0],
};

function add(body: Json, place: string, name: string, value: unknown): void {
  let holder = body;
  for (const step of PLACES[place] ?? []) holder = holder[step] as Json;
  holder[name] = value;
}

async function ask(body: unknown): Promise<Answer> {
  return sendTo(fixture as Fixture, JSON.stringify(body));
}

/** The last request to the agent, without the ids of the thread. */
function received(): Json {
  const { threadId: _, ...rest } = JSON.parse(fixture?.agentRequests.at(-1)?.body ?? "{}") as Json;
  return rest;
}

const inbound = () => fixture?.recorder.drafts.findLast(({ direction }) => direction === "inbound");

const unknownName = fc.oneof(
  fc.constantFrom("data", "createdAt", "toString", "constructor", "x-new", "a/b~c", "ünknown"),
  fc.string({ minLength: 1, maxLength: 80 }).map((name) => `x${name}`),
);
const unknownValue = fc.constantFrom<unknown>(1, "x", null, [], { type: "text", a: [1] });
const unknownPart = fc
  .constantFrom<Json>(
    { type: "x-new", text: "t" },
    { type: "image", source: { type: "hologram", value: "h" } },
    { no: "type" },
  )
  .map((part) => ({ ...part }));

test("an agent receives the same with and without unknown keys and parts, and each such request is reported", async () => {
  await open(requestPolicy());
  expect((await ask(request())).status).toBe(200);
  const plain = received();
  expect(inbound()?.rule).toBeUndefined();
  const counted = telemetry.stripped.total;
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(PLACES)), unknownName, unknownValue), {
        maxLength: 5,
      }),
      fc.array(fc.tuple(fc.nat(2), unknownPart), { maxLength: 2 }),
      async (keys, parts) => {
        fc.pre(keys.length + parts.length > 0);
        const body = request();
        for (const [place, name, value] of keys) add(body, place, name, value);
        const [message] = body["messages"] as [{ content: Json[] }];
        for (const [at, part] of parts) message.content.splice(at, 0, part);
        sent += 1;
        const answer = await ask(body);
        expect(answer.status, answer.text).toBe(200);
        expect(received()).toEqual(plain);
        expect(inbound()?.rule).toBe("ag_ui_request.unknown_keys");
      },
    ),
    { numRuns: 60 },
  );
  expect(telemetry.stripped.total - counted).toBe(sent);
});

test("more unknown keys than the gateway keeps notes of are all removed, and a hidden message in an unknown role is still found", async () => {
  await open(requestPolicy());
  const user = (id: string): Json => ({ id, role: "user", content: "hello", createdAt: 1 });
  const many = Array.from({ length: 100 }, (_, index) => user(`u${index}`));
  expect((await ask({ ...request(), messages: many })).status).toBe(200);
  expect(JSON.stringify(received())).not.toContain("createdAt");
  const hidden = [...many, { id: "x", role: "oracle", content: "words" }];
  const answer = await ask({ ...request(), messages: hidden });
  expect(answer).toMatchObject({
    status: 400,
    code: "ERR_INBOUND_UNKNOWN_KEY",
    pointer: "/messages/100/role",
  });
});

const USER = { id: "u", role: "user" };
const LOST: [string, string, Json][] = [
  [
    "a message without a known part",
    "/messages/0/content",
    { messages: [{ ...USER, content: [{ type: "x-new" }] }] },
  ],
  [
    "a message with an empty text beside it",
    "/messages/0/content",
    {
      messages: [{ ...USER, content: [{ type: "text", text: " " }, { type: "x-new" }] }],
    },
  ],
  [
    "a message with a file that only an id names",
    "/messages/0/content",
    { messages: [{ ...USER, content: [{ type: "binary", mimeType: "image/png", id: "f" }] }] },
  ],
  ["a message without a role", "/messages/0/role", { messages: [{ id: "u", content: "hello" }] }],
  [
    "a role in capitals",
    "/messages/0/role",
    { messages: [{ id: "u", role: "USER", content: "hello" }] },
  ],
  ["another spelling of a key", "/thread_id", { thread_id: "other" }],
  ["a key in capitals", "/ForwardedProps", { ForwardedProps: { user: "root" } }],
  [
    "another spelling in a message",
    "/messages/0/encrypted_value",
    { messages: [{ ...USER, content: "hello", encrypted_value: "c" }] },
  ],
];

test.each(LOST)(
  "%s is refused: removing it would lose it without a trace",
  async (_title, at, fields) => {
    await open(requestPolicy());
    const answer = await ask({ ...request(), ...fields });
    expect(answer).toMatchObject({ status: 400, code: "ERR_INBOUND_UNKNOWN_KEY", pointer: at });
    expect(answer.remedy?.length).toBeGreaterThan(10);
    expect(fixture?.agentRequests).toHaveLength(0);
  },
);

test("a file that only an id names, beside text, is removed and reported", async () => {
  await open(requestPolicy());
  const part = { type: "binary", mimeType: "image/png", id: "f" };
  const content = [{ type: "text", text: "look" }, part];
  expect((await ask({ ...request(), messages: [{ ...USER, content }] })).status).toBe(200);
  expect(inbound()?.rule).toBe("ag_ui_request.unknown_keys");
});

test("a known key with a wrong value is refused, whatever is beside it", async () => {
  await open(requestPolicy());
  for (const fields of [{ tools: 1 }, { context: [{ description: 1, value: "v" }] }]) {
    const answer = await ask({ ...request(), ...fields, data: {} });
    expect(answer.code).toBe("ERR_ENFORCE_MALFORMED_VALUE");
  }
});

test("with action refuse the gateway refuses every unknown key and part", async () => {
  await open(requestPolicy("{ unknown_keys: { action: refuse } }"));
  for (const place of Object.keys(PLACES)) {
    const body = request();
    add(body, place, "surprise", 1);
    expect([place, (await ask(body)).code]).toEqual([place, "ERR_INBOUND_UNKNOWN_KEY"]);
  }
  expect(fixture?.agentRequests).toHaveLength(0);
});

const OBSERVING = (request: string): string =>
  `mode: observe\n${requestPolicy(request)}`.replace(/^(mode.*\n)(hushspec.*\n)/u, "$2$1");

test("under a policy that observes, the agent receives the same request as without a gateway, and the receipt covers it", async () => {
  await open(OBSERVING("{ threads: { mode: enforce } }"));
  const body = request();
  for (const place of Object.keys(PLACES)) add(body, place, "x", { deep: [1] });
  (body["messages"] as Json[]).push({ id: "o", role: "oracle", content: "words" });
  expect((await ask(body)).status).toBe(200);
  const { threadId: _, ...sent } = body;
  expect(received()).toEqual({ ...sent, state: {}, forwardedProps: {} });
  expect(inbound()?.rule).toBe("ag_ui_request.unknown_keys");
  const hash = sha256Hex(canonicalJson(body as JsonValue));
  expect(inbound()?.receipt.payload_hash).toBe(hash);
});

test("an observing policy forwards neither another spelling of a key nor an unknown part that could evade an enforced check", async () => {
  await open(OBSERVING("{ threads: { mode: enforce } }"));
  expect((await ask({ ...request(), thread_id: "other" })).status).toBe(200);
  expect(received()).not.toHaveProperty("thread_id");
  await fixture?.stop();
  await open(OBSERVING("{ history: { mode: enforce } }"));
  expect((await ask({ ...request(), data: {} })).status).toBe(200);
  expect(received()).not.toHaveProperty("data");
});
