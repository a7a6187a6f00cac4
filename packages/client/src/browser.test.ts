import { findBrowser, sseFrame, startBrowser, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakeAnswer, FakeRequest } from "@countersign/testkit";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOf, textOf } from "./testing/harness.js";

const { started, finished } = runOf(1);
const [open, content, close] = textOf("a", "Hi") as [object, object, object];

/** A page that runs one store over the transport that its address names. */
const PAGE = `
  import { createAgentStore, eventSource, postSse, webSocket } from "./index.js";
  const transports = {
    post: () => postSse({ url: "/run" }),
    source: () => eventSource({ url: "/stream" }),
    socket: () => webSocket({ url: location.origin.replace("http", "ws") + "/ws", token: "t" }),
  };
  const store = createAgentStore({
    transport: transports[location.hash.slice(1)](),
    threadId: "thread",
    mintId: (kind) => kind + "-1",
  });
  globalThis.seen = [];
  store.subscribe(() => seen.push(store.getSnapshot().status));
  globalThis.ended = store.send("hello");
`;

let script = "";
function answer({ method, path, headers }: FakeRequest): FakeAnswer {
  const html = { headers: { "content-type": "text/html" } };
  if (path === "/") {
    return {
      ...html,
      pieces: ['<link rel="icon" href="data:,"><script type="module" src="/page.js"></script>'],
    };
  }
  if (path === "/page.js")
    return { headers: { "content-type": "text/javascript" }, pieces: [script] };
  const events = [started, open, content, close, finished];
  if (method === "WS") return { pieces: events.map((event) => JSON.stringify(event)) };
  if (method === "POST") return { pieces: events.map(sseFrame) };
  // The first stream breaks off; the browser comes back with the id and gets the rest.
  if (headers["last-event-id"] === undefined) {
    return {
      pieces: [
        "retry: 300\n",
        ...[started, open, content].map((event, id) => `id: ${id}\n${sseFrame(event)}`),
      ],
    };
  }
  return { pieces: [close, finished].map(sseFrame) };
}

const hasBrowser = findBrowser() !== undefined;
let agent: FakeAgent;
let browser: Awaited<ReturnType<typeof startBrowser>>;
beforeAll(async () => {
  if (!hasBrowser) return;
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["@countersign/source"],
    logLevel: "error",
  });
  script = outputFiles[0]?.text ?? "";
  agent = await startFakeAgent(answer);
  browser = await startBrowser();
});
afterAll(async () => {
  if (!hasBrowser) return;
  await browser.close();
  await agent.stop();
});

test.skipIf(!hasBrowser).each([
  ["post", ["connecting", "streaming", "done"]],
  ["socket", ["connecting", "streaming", "done"]],
  ["source", ["connecting", "streaming", "reconnecting", "streaming", "done"]],
])("in a real browser a run over %s is read to its end", async (name, statuses) => {
  const page = await browser.newPage();
  await page.goto(`${agent.url}#${name}`);
  const end = await page.evaluate("ended");
  expect(end).toMatchObject({
    status: "done",
    messages: [{ content: "hello" }, { content: "Hi" }],
  });
  const seen = (await page.evaluate("seen")) as string[];
  expect(seen.filter((status, index) => status !== seen[index - 1])).toEqual(statuses);
  await page.close();
});

test.skipIf(!hasBrowser)(
  "the browser came back with the last id and asked for nothing twice",
  () => {
    const streams = agent.requests.filter(({ path }) => path.startsWith("/stream"));
    expect(streams.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "2"]);
  },
);
