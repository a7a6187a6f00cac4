import { findBrowser, sseFrame, startBrowser, startTornLine } from "@countersign/testkit";
import type { FakeScript, TornLine } from "@countersign/testkit";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { createAccess } from "../../access/access.js";
import { createMemoryStore } from "../../store/memory-store.js";
import { SYSTEM_CLOCK } from "../../base/ports.js";
import { idsOf } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { startIdentity } from "../../testing/identity.js";
import type { Identity } from "../../testing/identity.js";
import { startLinked } from "../../testing/linked.js";
import type { Linked } from "../../testing/linked.js";

const isMissing = findBrowser() === undefined;

let fixtures: Fixture[] = [];
let linked: Linked | undefined;
let page: Fixture | undefined;
let identity: Identity | undefined;
let line: TornLine | undefined;
let browser: Browser | undefined;
afterEach(async () => {
  await browser?.close();
  await line?.stop();
  await linked?.stop();
  fixtures = [];
  await page?.stop();
  await identity?.stop();
});

const WORDS = 200;

/** Sends a word every 20 ms. */
const TALKER: FakeScript = ({ body }) => ({
  pieces: (async function* () {
    const ids = idsOf(body);
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" });
    for (let word = 0; word < WORDS; word += 1) {
      yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: `${word} ` });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m1" });
    yield sseFrame({ type: "RUN_FINISHED", ...ids });
  })(),
});

const SCRIPT = `
window.text = "";
window.types = [];
window.opened = 0;
(async () => {
  const answer = await fetch(gateway + "/ag-ui/tickets?session=s1", {
    method: "POST",
    headers: { authorization: "Bearer " + token },
  });
  const { url } = await answer.json();
  window.source = new EventSource(gateway + url + "&reconnect=1");
  source.onopen = () => (opened += 1);
  source.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    types.push(event.type);
    text += event.delta ?? "";
  };
})();
`;

test.skipIf(isMissing)(
  "a browser's EventSource, opened with a ticket, loses its connection, resumes at another gateway and gets every word once; after the end it stops reconnecting (needs Chromium)",
  async () => {
    identity = await startIdentity();
    page = await startFixture(TALKER);
    // The gateways accept each other's tickets.
    linked = await startLinked(TALKER, {
      access: createAccess([identity.authenticator()]),
      origins: [page.url],
      ticketKey: new Uint8Array(32).fill(3),
      ledger: createMemoryStore(SYSTEM_CLOCK),
    });
    const { first, second } = linked;
    fixtures = [first, second];
    const portOf = ({ gateway }: Fixture): number =>
      (gateway.dataPlane.address() as AddressInfo).port;
    line = await startTornLine(portOf(first), portOf(second));
    browser = await startBrowser();
    const tab = await browser.newPage();
    await tab.goto(`${page.url}/healthz`);
    const token = await identity.token("alice");
    const facts = { gateway: line.url, token };
    await tab.addScriptTag({
      content: `Object.assign(window, ${JSON.stringify(facts)});${SCRIPT}`,
    });
    const read = (name: string): Promise<unknown> => tab.evaluate(name);
    await expect.poll(() => read("text"), { timeout: 10_000 }).toContain("50 ");
    const there = fixtures.find(({ agentRequests }) => agentRequests.length > 0);
    line.takeOut(portOf(there as Fixture));
    line.tear();
    // Chromium waits three seconds before it reconnects.
    await expect.poll(() => read("opened"), { timeout: 10_000 }).toBe(2);
    await expect.poll(() => read("types"), { timeout: 20_000 }).toContain("RUN_FINISHED");
    expect(await read("text")).toBe(
      Array.from({ length: WORDS }, (_, word) => `${word} `).join(""),
    );
    expect((await read("types")) as string[]).toHaveLength(WORDS + 4);
    await expect.poll(() => read("source.readyState"), { timeout: 10_000 }).toBe(2);
    expect(fixtures.flatMap(({ agentRequests }) => agentRequests)).toHaveLength(1);
    const shared = fixtures.map(({ gateway }) => gateway.context.telemetry.sharedStreams.results);
    expect(shared.flatMap((results) => [...results.entries()])).toContainEqual(["taken", "", 1]);
  },
  60_000,
);
