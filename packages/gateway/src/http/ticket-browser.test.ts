import { findBrowser, startBrowser } from "@countersign/testkit";
import type { Browser } from "playwright-core";
import { afterEach, expect, test, vi } from "vitest";
import { createAccess } from "../access/access.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";

const isMissing = findBrowser() === undefined;

let fixture: Fixture | undefined;
let page: Fixture | undefined;
let identity: Identity | undefined;
let browser: Browser | undefined;
afterEach(async () => {
  await browser?.close();
  await fixture?.stop();
  await page?.stop();
  await identity?.stop();
});

/** A page's script: gets a ticket with the token and opens a plain EventSource; then tries without one. */
const SCRIPT = `
window.seen = [];
window.errors = 0;
(async () => {
  const answer = await fetch(gateway + "/ag-ui/tickets?session=s1", {
    method: "POST",
    headers: { authorization: "Bearer " + token },
  });
  const { url } = await answer.json();
  const events = new EventSource(gateway + url);
  events.onmessage = ({ data }) => seen.push(JSON.parse(data).type);
  events.onerror = () => (errors += 1);
  const bare = new EventSource(gateway + "/ag-ui/stream?session=s1");
  bare.onmessage = () => seen.push("LEAK");
  const socket = new WebSocket(gateway.replace("http", "ws") + "/ws?session=s2", [
    "base64UrlBearerAuthorization." + btoa(token).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
    "base64UrlBearerAuthorization",
  ]);
  socket.onopen = () => socket.send(JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] }));
  socket.onmessage = ({ data }) => seen.push("WS " + JSON.parse(data).type);
})();
`;

test.skipIf(isMissing)(
  "a page of a listed origin gets its stream with a ticket and its socket with a sub-protocol; without, nothing (needs Chromium)",
  async () => {
    identity = await startIdentity();
    // Another gateway serves as the page's own origin: same machine, other port, so a foreign origin.
    page = await startFixture(HELD_AGENT);
    fixture = await startFixture(HELD_AGENT, {
      gateway: { access: createAccess([identity.authenticator()]), origins: [page.url] },
    });
    browser = await startBrowser();
    const tab = await browser.newPage();
    await tab.goto(`${page.url}/healthz`);
    const facts = `window.gateway = ${JSON.stringify(fixture.url)}; window.token = ${JSON.stringify(await identity.token("alice"))};`;
    await tab.addScriptTag({ content: facts + SCRIPT });
    const seen = (): Promise<string[]> => tab.evaluate("seen");
    await vi.waitFor(
      async () => {
        const types = await seen();
        expect(types).toContain("RUN_FINISHED");
        expect(types).toContain("WS RUN_FINISHED");
      },
      { timeout: 10_000, interval: 100 },
    );
    // The EventSource reconnects with its used ticket, is rejected, and stops.
    await vi.waitFor(async () => expect(await tab.evaluate("errors")).toBeGreaterThanOrEqual(2), {
      timeout: 10_000,
      interval: 100,
    });
    expect(await seen()).not.toContain("LEAK");
    expect(fixture.agentRequests).toHaveLength(2);
  },
);
