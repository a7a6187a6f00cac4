import { findBrowser, sseFrame } from "@countersign/testkit";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterEach, expect, test, vi } from "vitest";
import { SAMPLES, startEnvelopeAgent } from "../testing/envelopes.js";
import type { EnvelopeAgent } from "../testing/envelopes.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { selfSigned } from "../testing/self-signed.js";

const executablePath = findBrowser();
const isMissing = executablePath === undefined;

let fixture: Fixture | undefined;
let agent: EnvelopeAgent | undefined;
let browser: Browser | undefined;
afterEach(async () => {
  await browser?.close();
  await fixture?.stop();
  await agent?.stop();
  browser = undefined;
  fixture = undefined;
  agent = undefined;
});

/** The guide's SSE snippet, unchanged. */
const SSE_SNIPPET = `
const es = new EventSource("/ag-ui/stream?session=" + sessionId);

es.addEventListener("message", (ev) => {
  const event = JSON.parse(ev.data);
  // event is an AgUiEvent shape; your renderer is unchanged.
  render(event);
});

es.addEventListener("error", (err) => {
  console.warn("ag-ui stream closed", err);
});
`;

/** The guide's WebSocket snippet, unchanged. */
const SOCKET_SNIPPET = `
const ws = new WebSocket("wss://example.app/ag-ui?session=" + sessionId);

ws.addEventListener("message", (ev) => {
  const event = JSON.parse(ev.data);
  render(event);
});

function sendToAgent(partial: Partial<AgUiEvent>) {
  ws.send(JSON.stringify(partial));
}
`;

const POLICY = `hushspec: "0.1.0"
name: browser
rules:
  ag_ui: { allow_display_without_capability: true }
  ag_ui_inbound: { default: block, allow_classifications: [display, mutate] }
`;

/** Opens a page of example.app, which resolves to the gateway, and runs a snippet in it. */
async function openPage(snippet: string): Promise<Page> {
  const port = new URL(fixture?.url ?? "").port;
  browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--ignore-certificate-errors",
      `--host-resolver-rules=MAP example.app:443 127.0.0.1:${port}`,
    ],
  });
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  // Any page of that origin will do.
  await page.goto("https://example.app/healthz");
  // Browsers do not parse types; a compiler would remove this one.
  const script = snippet.replace(": Partial<AgUiEvent>", "");
  await page.addScriptTag({
    content: `const sessionId = "sess_01"; const rendered = []; const render = (event) => rendered.push(event);${script}`,
  });
  return page;
}

const rendered = (page: Page): Promise<unknown> => page.evaluate("rendered");

test.skipIf(isMissing)(
  "the guide's EventSource snippet works unchanged in a real browser (needs Chromium)",
  async () => {
    fixture = await startFixture(() => ({ pieces: SAMPLES.map(sseFrame) }), {
      policy: POLICY,
      target: { transport: "get-sse", dialect: "chio" },
      gateway: { tls: selfSigned("example.app"), origins: ["https://example.app"] },
    });
    const page = await openPage(SSE_SNIPPET);
    await vi.waitFor(async () => expect(await rendered(page)).toEqual([SAMPLES[0]]), {
      timeout: 10_000,
    });
    expect(fixture.recorder.drafts.filter(({ receipt }) => !receipt.allowed)).toHaveLength(2);
  },
);

test.skipIf(isMissing)(
  "the guide's WebSocket snippet works unchanged in a real browser, in both directions (needs Chromium)",
  async () => {
    agent = await startEnvelopeAgent((socket) => socket.send(JSON.stringify(SAMPLES[0])));
    fixture = await startFixture(() => ({ pieces: [] }), {
      policy: POLICY,
      target: { transport: "websocket", dialect: "chio", url: agent.url },
      gateway: { tls: selfSigned("example.app"), origins: ["https://example.app"] },
    });
    const page = await openPage(SOCKET_SNIPPET);
    await vi.waitFor(async () => expect(await rendered(page)).toEqual([SAMPLES[0]]), {
      timeout: 10_000,
    });
    await page.evaluate('sendToAgent({ event_type: "navigation", payload: { url: "/away" } })');
    await page.evaluate('sendToAgent({ event_type: "text_stream", payload: { text: "hello" } })');
    await vi.waitFor(() => expect(agent?.received).toHaveLength(1));
    expect(agent.received).toMatchObject([{ event_type: "text_stream", session_id: "sess_01" }]);
  },
);
