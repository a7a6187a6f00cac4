import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, JsonObject } from "@countersign/core";
import { createFakeClock, sseFrame } from "@countersign/testkit";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { readScrape, valueOf } from "../testing/scrape.js";
import { startServed } from "../testing/served.js";
import { post } from "../testing/transports.js";
import { denialEvent } from "./ocsf.js";
import { createWebhook, parseWebhookSecrets } from "./webhook.js";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const OLD_SECRET = `whsec_${randomBytes(24).toString("base64")}`;

type Delivery = { headers: Record<string, string>; body: string };

/** A receiver; `statuses` are its answers, then 204. */
async function startReceiver(...statuses: number[]) {
  const received: Delivery[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      received.push({ headers, body: Buffer.concat(parts).toString() });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

let folder = "";
let secretFile = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-webhook-"));
  secretFile = join(folder, "secret");
  await writeFile(secretFile, `${SECRET}\n`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The events of deliveries that the reference library accepts. */
const eventsOf = (deliveries: readonly Delivery[], secret = SECRET): JsonObject[] =>
  deliveries.flatMap(({ body, headers }) => {
    const { type, data } = new Webhook(secret).verify(body, headers) as {
      type: string;
      data: JsonObject[];
    };
    expect(type).toBe("countersign.ocsf");
    return data;
  });

const answer = ({ body }: { body: string }) => ({
  pieces: inRun(idsOf(body), [
    ...text("m1", "secret words"),
    { type: "STATE_SNAPSHOT", snapshot: { card: "4111 1111" } },
  ]).map(sseFrame),
});

test("a denial, a start and a stop reach a receiver that verifies them with the reference library, without any payload", async () => {
  const receiver = await startReceiver();
  const served = await startServed(answer, {
    policy: CHAT_POLICY,
    config: `webhook: { url: "${receiver.url}", secret_file: "${secretFile}", headers: { X-Key: k } }\n`,
  });
  try {
    const body = { threadId: "t1", runId: "r1", state: {}, tools: [], context: [] };
    await (await post(`${served.running.dataUrl}/agents/support?session=s1`, body)).text();
    await served.running.close();
    expect(receiver.received[0]?.headers).toMatchObject({ "x-key": "k" });
    const events = eventsOf(receiver.received);
    for (const event of events) expectSound(event);
    const [start, ...others] = events;
    const stop = others.pop();
    expect([start, stop]).toMatchObject([{ type_uid: 600_203 }, { type_uid: 600_204 }]);
    expect(others.length).toBeGreaterThan(0);
    expect(others[0]).toMatchObject({
      class_uid: 2004,
      type_uid: 200_401,
      action_id: 2,
      disposition_id: 2,
      severity_id: 3,
      finding_info: { analytic: { name: expect.stringMatching(/^(?:ag_ui|capability)/u) } },
      evidences: [{ actor: { session: { uid: "s1" } }, src_endpoint: { ip: "127.0.0.1" } }],
      unmapped: { run_id: "r1", thread_id: "t1", classification: "mutate" },
    });
    const sent = receiver.received.map(({ body: written }) => written).join();
    expect(sent).not.toMatch(/secret words|4111/u);
  } finally {
    await served.stop();
    receiver.stop();
  }
});

/** What OCSF 1.3.0 requires of the classes that we send (schema.ocsf.io, classes 2004 and 6002). */
function expectSound(event: JsonObject): void {
  const { class_uid: uid, activity_id: activity, category_uid: category } = event;
  expect(event["type_uid"]).toBe(Number(uid) * 100 + Number(activity));
  expect([uid, category]).toEqual(uid === 2004 ? [2004, 2] : [6002, 6]);
  expect(event["severity_id"]).toSatisfy((id: number) => id >= 1 && id <= 6);
  expect(event["time"]).toSatisfy(Number.isSafeInteger);
  expect(event["metadata"]).toMatchObject({
    version: "1.3.0",
    product: { vendor_name: expect.any(String), name: expect.any(String) },
  });
  const named = { name: expect.any(String) };
  const found = { uid: expect.any(String), title: expect.any(String) };
  expect(event).toMatchObject(uid === 6002 ? { app: named } : { finding_info: found });
}

test("a denial names principal, tool and path; a hashed address is no IP address", () => {
  const item: FeedItem = {
    seq: 7,
    receipt_id: "agui-1",
    type: "TOOL_CALL_START",
    direction: "outbound",
    agent_id: "support",
    session_id: "s1",
    thread_id: "t1",
    run_id: "r1",
    event_type: "navigation",
    classification: "navigate",
    allowed: false,
    mode: "enforce",
    rule: "ag_ui.capability",
    denial_reason: "no capability",
    principal: "key:bob",
    client_address: `hmac:${"a".repeat(64)}`,
    tool: "navigate_to",
    path: "/ui/page",
    received_at: 1_795_000_000_000,
    forwarded: 0,
    blocked: 1,
  };
  const event = denialEvent(item, { gateway: "g1", log: "example.com/log" });
  expectSound(event);
  expect(event).toMatchObject({
    evidences: [
      { actor: { user: { uid: "key:bob" } }, src_endpoint: { uid: `hmac:${"a".repeat(64)}` } },
    ],
    unmapped: { path: "/ui/page" },
  });
  expect(event["resources"]).toContainEqual({
    type: "tool",
    name: "navigate_to",
    uid: "navigate_to",
  });
});

test("a condition opens a finding and closes it, and observed denials are sent on request", async () => {
  const receiver = await startReceiver();
  const served = await startServed(answer, {
    policy: CHAT_POLICY.replace("name: chat", "name: chat\nmode: observe"),
    config: `webhook: { url: "${receiver.url}", secret_file: "${secretFile}", events: [would_block, health] }\n`,
  });
  try {
    const body = { threadId: "t1", runId: "r1", state: {}, tools: [], context: [] };
    await (await post(`${served.running.dataUrl}/agents/support?session=s1`, body)).text();
    const file = join(served.folder, "policy.yaml");
    await writeFile(file, "no policy");
    await untilReported(receiver.received, "policy_stale", 1);
    await writeFile(file, CHAT_POLICY);
    await untilReported(receiver.received, "policy_stale", 2);
    const events = eventsOf(receiver.received);
    for (const event of events) expectSound(event);
    expect(events).toContainEqual(
      expect.objectContaining({ class_uid: 2004, action_id: 1, disposition_id: 17 }),
    );
    const findings = events.filter((event) => JSON.stringify(event).includes("policy_stale"));
    expect(findings.map(({ activity_id: id }) => id)).toEqual([1, 3]);
    expect(
      new Set(findings.map((event) => (event["finding_info"] as JsonObject)["uid"])).size,
    ).toBe(1);
    const scrape = readScrape(await (await served.control("/metrics")).text());
    expect(
      valueOf(scrape, "countersign_webhook_events_total", { result: "exported" }),
    ).toBeGreaterThanOrEqual(3);
  } finally {
    await served.stop();
    receiver.stop();
  }
});

async function untilReported(received: readonly Delivery[], name: string, times: number) {
  await expect
    .poll(
      () =>
        received
          .map(({ body }) => body)
          .join("")
          .split(`"uid":"${name}"`).length - 1,
      {
        timeout: 20_000,
      },
    )
    .toBe(times);
}

/** A webhook whose pauses end at once and move the clock. */
function openTestWebhook(url: string, read = () => parseWebhookSecrets(SECRET)) {
  const clock = createFakeClock(Date.now());
  const pauses: number[] = [];
  const lost: [string, number][] = [];
  const webhook = createWebhook({
    endpoint: new URL(url),
    readSecrets: read,
    clock,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      clock.advance(milliseconds);
    },
    onRetry: () => {},
    onFailure: (reason, events) => lost.push([reason, events]),
  });
  return { webhook, clock, pauses, lost };
}

test("a failed delivery is repeated with the same id, a new timestamp and longer pauses", async () => {
  const receiver = await startReceiver(500, 503, 429);
  const { webhook, pauses } = openTestWebhook(receiver.url);
  webhook.add({ class_uid: 1 });
  await expect.poll(() => webhook.exported, { timeout: 20_000 }).toBe(1);
  const { received } = receiver;
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  const times = received.map(({ headers }) => Number(headers["webhook-timestamp"]));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(new Set(times).size).toBeGreaterThan(1);
  expect(eventsOf(received)).toHaveLength(4);
  for (const [index, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index);
    expect(pause).toBeLessThanOrEqual(1000 * 2 ** index);
  }
  await webhook.close();
  receiver.stop();
});

test("a receiver that is down for an hour, or gone, loses events, which is counted; the queue is bounded", async () => {
  const down = await startReceiver(...Array.from({ length: 1000 }, () => 500));
  const hour = openTestWebhook(down.url);
  hour.webhook.add({ class_uid: 1 });
  await expect.poll(() => hour.lost, { timeout: 20_000 }).toEqual([["status 500", 1]]);
  const gone = await startReceiver(410);
  const other = openTestWebhook(gone.url);
  for (let count = 0; count < 5000; count += 1) other.webhook.add({ class_uid: count });
  await other.webhook.close();
  expect(gone.received).toHaveLength(1);
  expect(other.webhook.dropped).toBe(5000);
  await hour.webhook.close();
  down.stop();
  gone.stop();
});

test("while a secret is replaced, a receiver with either one accepts a delivery", async () => {
  const receiver = await startReceiver();
  const { webhook } = openTestWebhook(receiver.url, () =>
    parseWebhookSecrets(`${SECRET}\n${OLD_SECRET}\n`),
  );
  webhook.add({ class_uid: 1 });
  await webhook.close();
  expect(eventsOf(receiver.received, SECRET)).toHaveLength(1);
  expect(eventsOf(receiver.received, OLD_SECRET)).toHaveLength(1);
  const [{ body, headers } = { body: "", headers: {} }] = receiver.received;
  expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow();
  receiver.stop();
});

test.each([
  "",
  "secret",
  "whsec_",
  `whsec_${randomBytes(23).toString("base64")}`,
  `whsec_${randomBytes(65).toString("base64")}`,
  `whsec_${randomBytes(32).toString("base64url")}!`,
  [SECRET, SECRET, SECRET].join("\n"),
])(
  "case %#: a secret that is too short, too long or not Base64 is refused and not repeated",
  (secret) => {
    expect(() => parseWebhookSecrets(secret)).toThrow(/whsec_ and 24 to 64 bytes/u);
    const part = secret.slice(6, 16) || "nothing";
    expect(() => parseWebhookSecrets(secret)).not.toThrow(part);
  },
);
