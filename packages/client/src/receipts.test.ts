import { HttpAgent } from "@ag-ui/client";
import type { JsonObject } from "@countersign/core";
import { checkReceipts } from "@countersign/receipts/stream";
import type { StreamFault } from "@countersign/receipts/stream";
import { findBrowser, sseFrame, startBrowser, startFakeAgent } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createAgentStore } from "./store/create-agent-store.js";
import { GOLDEN } from "./testing/golden.js";
import { startSigningGateway } from "./testing/signing-gateway.js";
import type { SigningGateway } from "./testing/signing-gateway.js";
import { eventSource } from "./transport/event-source.js";
import { postSse } from "./transport/post-sse.js";
import type { Transport } from "./transport/transport.js";
import { webSocket } from "./transport/websocket.js";
import type { AgentSnapshot } from "./view/snapshot.js";

type Event = JsonObject & { type: string };

/** Every kind of event, under the ids that were asked for; each run has messages of its own. */
function answer({ body }: FakeRequest): Event[] {
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  const text = JSON.stringify(GOLDEN.slice(0, -1));
  const ids = { threadId, runId };
  const own = JSON.parse(
    text.replaceAll(/"(m1|m2|c1|c2|r1|a1|thought|span)"/g, `"$1 of ${runId}"`),
  ) as Event[];
  const messages = (JSON.parse(body) as { messages: JsonObject[] }).messages;
  return [
    { ...(own[0] as Event), ...ids },
    ...own.slice(1),
    { type: "MESSAGES_SNAPSHOT", messages: [...messages, said(runId)] },
    { type: "RUN_FINISHED", ...ids, result: { list: [], none: null, number: 1e21 } },
  ];
}

function said(runId: string): JsonObject {
  return { id: `m1 of ${runId}`, role: "assistant", content: "All in one." };
}

const gateways: Record<string, SigningGateway> = {};
beforeAll(async () => {
  for (const sign of ["each", "batch"] as const) {
    gateways[sign] = await startSigningGateway(
      (request) => ({ pieces: answer(request).map(sseFrame) }),
      sign,
    );
  }
});
afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
});

/** The browser's class as far as a run needs it; Node has none. */
class PlainSource {
  readyState = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  constructor(url: string) {
    void this.#read(url);
  }
  close(): void {
    this.readyState = 2;
  }
  async #read(url: string): Promise<void> {
    const text = await (await fetch(url)).text();
    for (const { data } of eventsOf(text).map((event) => ({ data: JSON.stringify(event) }))) {
      this.onmessage?.({ data, lastEventId: "" } as never);
    }
  }
}

function eventsOf(text: string): Event[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => JSON.parse(frame.slice(6)) as Event);
}

const TRANSPORTS: Record<string, (address: string, receipts: boolean) => Transport> = {
  POST: (address, receipts) => postSse({ url: `http://${address}/agents/support`, receipts }),
  GET: (address, receipts) =>
    eventSource({
      url: `http://${address}/ag-ui/stream`,
      receipts,
      EventSource: PlainSource,
    }),
  "a WebSocket": (address, receipts) =>
    webSocket({ url: `ws://${address}/agents/support/ws`, receipts, WebSocket }),
};

async function settled(store: { getSnapshot(): AgentSnapshot }): Promise<void> {
  await expect.poll(() => store.getSnapshot().receipts.waiting, { timeout: 10_000 }).toBe(0);
}

test.each(Object.keys(TRANSPORTS).flatMap((name) => ["each", "batch"].map((sign) => [name, sign])))(
  "over %s a client finds every event signed for, run after run (%s)",
  async (name, sign) => {
    const { address, key } = gateways[sign as string] as SigningGateway;
    const faults: StreamFault[] = [];
    let events = 0;
    const store = createAgentStore({
      transport: (TRANSPORTS[name as string] as (typeof TRANSPORTS)[string])(address, true),
      verifyReceipt: checkReceipts({
        trustedKeys: [key],
        agent: "support",
        onRefused: (fault) => void faults.push(fault),
      }),
      onRefusedReceipt: "fail",
      onEvent: (event) => {
        const isReceipt = event.type === "CUSTOM" && event.name.startsWith("countersign.receipt");
        if (!isReceipt) events += 1;
      },
    });
    // An address asks for one run of a session.
    for (let run = 0; run < (name === "GET" ? 1 : 2); run += 1) {
      expect((await store.send(name === "GET" ? undefined : "hello")).status).toBe("done");
    }
    await settled(store);
    expect(faults).toEqual([]);
    expect(events).toBeGreaterThan(25);
    const { status, receipts } = store.getSnapshot();
    expect(receipts).toEqual({ verified: events, refused: 0, waiting: 0, missing: 0 });
    expect(status).toBe("done");
    store.close();
  },
);

test("what a client sends back holds no receipt, and the gateway takes it", async () => {
  const { address, key, requests } = gateways["each"] as SigningGateway;
  const store = createAgentStore({
    transport: postSse({ url: `http://${address}/agents/support`, receipts: true }),
    verifyReceipt: checkReceipts({ trustedKeys: [key] }),
  });
  await store.send("hello");
  expect((await store.send("again")).status).toBe("done");
  expect(requests.at(-1)?.body).not.toContain("ed25519");
  store.close();
});

test("a client that did not ask, and expects receipts, misses every one", async () => {
  const { address, key } = gateways["each"] as SigningGateway;
  const store = createAgentStore({
    transport: postSse({ url: `http://${address}/agents/support` }),
    verifyReceipt: checkReceipts({ trustedKeys: [key] }),
  });
  const { receipts } = await store.send("hello");
  expect(receipts).toMatchObject({ verified: 0, refused: 0 });
  expect(receipts.missing).toBeGreaterThan(25);
  store.close();
});

/** Stands on the way and does as it likes with what comes down. */
function between(change: (events: Event[]) => Event[]): typeof fetch {
  return async (...parameters) => {
    const response = await fetch(...parameters);
    const events = change(eventsOf(await response.text()));
    return new Response(events.map(sseFrame).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  };
}

const isReceipt = ({ type, name }: Event): boolean =>
  type === "CUSTOM" && String(name).startsWith("countersign.receipt");

/** The place of the first piece of text. */
const textAt = (events: readonly Event[]): number =>
  events.findIndex(({ type }) => type === "TEXT_MESSAGE_CONTENT");

let recorded: Event[] = [];

/** An attack, and the least the client must find. */
const ATTACKS: Record<string, [(events: Event[]) => Event[], Partial<AgentSnapshot["receipts"]>]> =
  {
    "changes a word": [
      (events) =>
        events.with(textAt(events), { ...(events[textAt(events)] as Event), delta: "Pay" }),
      { refused: 1, missing: 0 },
    ],
    "leaves an event out": [
      (events) => events.toSpliced(textAt(events), 1),
      // Its receipt is beside nothing, and the next tells of the gap.
      { refused: 2, missing: 0 },
    ],
    "leaves an event and its receipt out": [
      (events) => events.toSpliced(textAt(events), 2),
      { refused: 1, missing: 0 },
    ],
    "leaves a receipt out": [
      (events) => events.toSpliced(textAt(events) + 1, 1),
      // The next receipt tells that one is missing.
      { refused: 1, missing: 1 },
    ],
    "leaves the receipt of the end out": [
      (events) => events.filter(({ name }) => name !== "countersign.receipt_ahead"),
      { refused: 0, missing: 1 },
    ],
    "leaves all receipts out": [
      (events) => events.filter((event) => !isReceipt(event)),
      { verified: 0 },
    ],
    "moves an event behind the next": [
      (events) => {
        const at = textAt(events);
        const [one, its, two, theirs] = events.slice(at, at + 4) as [Event, Event, Event, Event];
        return events.toSpliced(at, 4, two, theirs, one, its);
      },
      { refused: 2, missing: 0 },
    ],
    "exchanges two receipts": [
      (events) => {
        const at = textAt(events) + 1;
        const [one, other] = [events[at] as Event, events[at + 2] as Event];
        return events.with(at, other).with(at + 2, one);
      },
      { refused: 2, missing: 0 },
    ],
    "tells an event twice": [
      (events) => {
        const at = textAt(events);
        return events.toSpliced(at, 0, ...events.slice(at, at + 2));
      },
      { refused: 1, missing: 0 },
    ],
    "adds an event of its own": [
      (events) => {
        const at = textAt(events);
        return events.toSpliced(at, 0, { ...(events[at] as Event), delta: "Pay me. " });
      },
      { refused: 0, missing: 1 },
    ],
    "adds an event of another run, with its receipt": [
      (events) => {
        const at = textAt(recorded);
        return events.toSpliced(textAt(events), 0, ...recorded.slice(at, at + 2));
      },
      { refused: 1, missing: 0 },
    ],
    "tells another run instead, under the ids of this": [
      (events) => {
        const { threadId, runId } = events[0] as Event;
        return recorded.map((event) =>
          Object.hasOwn(event, "runId")
            ? { ...event, threadId: threadId ?? null, runId: runId ?? null }
            : event,
        );
      },
      { verified: 0, missing: 0 },
    ],
    "signs by itself": [
      (events) =>
        events.map((event) =>
          isReceipt(event)
            ? { ...event, value: { ...(event["value"] as JsonObject), kernel_key: OTHER_KEY } }
            : event,
        ),
      { verified: 0, missing: 0 },
    ],
  };
const OTHER_KEY = "ed25519:ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";

test.each(Object.keys(ATTACKS))("who stands between and %s is found out", async (name) => {
  const [attack, found] = ATTACKS[name] as (typeof ATTACKS)[string];
  const { address, key } = gateways["each"] as SigningGateway;
  const url = `http://${address}/agents/support`;
  const record = between((events) => {
    recorded = events;
    return events;
  });
  const other = createAgentStore({ transport: postSse({ url, receipts: true, fetch: record }) });
  await other.send("hello");
  other.close();
  const talk = async (onRefusedReceipt: "count" | "fail") => {
    const store = createAgentStore({
      transport: postSse({ url, receipts: true, fetch: between(attack) }),
      verifyReceipt: checkReceipts({ trustedKeys: [key] }),
      onRefusedReceipt,
    });
    await store.send("hello");
    await settled(store);
    store.close();
    return store.getSnapshot();
  };
  const { receipts } = await talk("count");
  expect(receipts).toMatchObject(found);
  expect(receipts.refused + receipts.missing).toBeGreaterThan(0);
  expect((await talk("fail")).problem?.code).toBe("ERR_CLIENT_RECEIPT");
});

test("the official client reads such a stream without complaint and keeps nothing of the receipts", async () => {
  const { address } = gateways["each"] as SigningGateway;
  const agent = new HttpAgent({
    url: `http://${address}/agents/support`,
    threadId: "official",
    headers: { "countersign-receipts": "1" },
  });
  const names: string[] = [];
  for (const run of ["one", "two"]) {
    agent.addMessage({ id: `u-${run}`, role: "user", content: "hello" });
    await agent.runAgent(
      { runId: run },
      { onCustomEvent: ({ event }) => void names.push(event.name) },
    );
  }
  expect(names.filter((name) => name === "countersign.receipt").length).toBeGreaterThan(50);
  expect(names.filter((name) => name === "countersign.receipt_ahead")).toHaveLength(2);
  expect(JSON.stringify(agent.messages)).not.toContain("ed25519");
});

/** A page that asks a gateway of another origin and checks what it is shown. */
const PAGE = `
  import { checkReceipts } from "@countersign/receipts/stream";
  import { createAgentStore, eventSource, postSse, webSocket } from "./index.js";
  const [address, key, name] = location.hash.slice(1).split(",");
  const transports = {
    post: () => postSse({ url: "http://" + address + "/agents/support", receipts: true }),
    source: () => eventSource({ url: "http://" + address + "/ag-ui/stream", receipts: true }),
    socket: () => webSocket({ url: "ws://" + address + "/agents/support/ws", receipts: true }),
  };
  const store = createAgentStore({
    transport: transports[name](),
    verifyReceipt: checkReceipts({ trustedKeys: [key] }),
  });
  globalThis.counts = (async () => {
    const { status } = await store.send(name === "source" ? undefined : "hello");
    while (store.getSnapshot().receipts.waiting > 0) await new Promise((done) => setTimeout(done, 5));
    return { status, ...store.getSnapshot().receipts };
  })();
`;

const hasBrowser = findBrowser() !== undefined;
test.skipIf(!hasBrowser)("in a real browser every event is found signed for", async () => {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["@countersign/source"],
    logLevel: "error",
  });
  const script = outputFiles[0]?.text ?? "";
  const site = await startFakeAgent(({ path }) =>
    path === "/page.js"
      ? { headers: { "content-type": "text/javascript" }, pieces: [script] }
      : {
          headers: { "content-type": "text/html" },
          pieces: ['<link rel="icon" href="data:,"><script type="module" src="/page.js"></script>'],
        },
  );
  const browser = await startBrowser();
  try {
    for (const sign of ["each", "batch"]) {
      const { address, key } = gateways[sign] as SigningGateway;
      for (const name of ["post", "source", "socket"]) {
        const page = await browser.newPage();
        await page.goto(`${site.url}#${address},${key},${name}`);
        const counts = (await page.evaluate("counts")) as AgentSnapshot["receipts"];
        expect(counts).toMatchObject({ status: "done", refused: 0, waiting: 0, missing: 0 });
        expect(counts.verified).toBeGreaterThan(25);
        await page.close();
      }
    }
  } finally {
    await browser.close();
    await site.stop();
  }
});
