import type { JsonValue } from "@countersign/core";
import { afterEach, expect, test } from "vitest";
import { officialClicks } from "../../../surface/src/testing/official-clicks.js";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import {
  button,
  CATALOGUE,
  clickPolicy,
  clicks,
  drawing,
  openSurfaceThread,
  shows,
} from "../testing/surface-thread.js";
import { AGENT_TRANSPORTS, CLIENT_TRANSPORTS } from "../testing/transports.js";

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

const CARD = drawing("card", button("pay", "pay_invoice", ["id"]), button("no", "decline"));

/** A card, and a list whose items have a button each, with data. */
const OPERATIONS = [
  { version: "v0.9", createSurface: { surfaceId: "list", catalogId: CATALOGUE } },
  {
    version: "v0.9",
    updateDataModel: {
      surfaceId: "list",
      path: "/",
      value: { who: "Ann", items: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    },
  },
  {
    version: "v0.9",
    updateComponents: {
      surfaceId: "list",
      components: [
        { id: "root", component: "Column", children: ["items", "all"] },
        { id: "items", component: "List", children: { componentId: "buy", path: "/items" } },
        {
          id: "buy",
          component: "Button",
          child: "n",
          action: {
            event: { name: "buy", context: { n: { path: "n" }, who: { path: "/who" } } },
          },
        },
        { id: "n", component: "Text", text: { path: "n" } },
        ...button("all", "buy_all", ["who", "note"]),
      ],
    },
  },
] as JsonValue[];

test.each(["userAction", "action"])(
  "every click of the official renderer passes once, as %s",
  async (member) => {
    const thread = await openSurfaceThread();
    stop = () => thread.stop();
    await thread.draw([shows(OPERATIONS as object[])]);
    const sent = officialClicks(OPERATIONS, "list");
    expect(sent).toHaveLength(4);
    const version = member === "action" ? { version: "v1.0" } : {};
    for (const expected of [undefined, "ERR_REQUEST_ACTION_USED"]) {
      for (const click of sent) {
        const answer = await thread.send({ a2uiAction: { ...version, [member]: click } });
        expect(answer.code).toBe(expected);
      }
    }
  },
);

/** A gateway whose agent draws the card for every request without forwarded properties. */
async function start(transport: string): Promise<Fixture> {
  const { target, answer } = AGENT_TRANSPORTS[transport] as (typeof AGENT_TRANSPORTS)[string];
  let count = 0;
  const fixture = await startFixture(
    ({ body }) => {
      count += 1;
      // An agent behind GET gets no input.
      const ids = body === "" ? { threadId: "t", runId: `own-${count}` } : idsOf(body);
      return answer(inRun(ids, body.includes("a2uiAction") ? [] : [shows(CARD)]));
    },
    { policy: clickPolicy(), target },
  );
  stop = () => fixture.stop();
  return fixture;
}

test.each(Object.keys(CLIENT_TRANSPORTS).filter((name) => name !== "GET + SSE"))(
  "a client over %s can click what it was shown, and nothing else",
  async (name) => {
    const fixture = await start("POST + SSE");
    const ask = CLIENT_TRANSPORTS[name] as (typeof CLIENT_TRANSPORTS)[string];
    const urls = { http: fixture.url, ws: fixture.webSocketUrl };
    let run = 0;
    const send = async (forwardedProps: object): Promise<boolean> => {
      const before = fixture.agentRequests.length;
      const input = { threadId: "t", runId: `r${(run += 1)}`, forwardedProps };
      await ask(urls, input).catch(() => []);
      return fixture.agentRequests.length > before;
    };
    expect(await send({})).toBe(true);
    expect(await send(clicks("card", "pay", "transfer"))).toBe(false);
    expect(await send(clicks("card", "pay", "pay_invoice", { id: 1 }))).toBe(true);
    expect(await send(clicks("card", "pay", "pay_invoice", { id: 1 }))).toBe(false);
    expect(
      fixture.recorder.drafts.filter(({ rule }) => rule === "ag_ui_request.actions"),
    ).toHaveLength(2);
  },
);

test("a client that opened a stream without an input can click what came there", async () => {
  const fixture = await start("POST + SSE");
  const urls = { http: fixture.url, ws: fixture.webSocketUrl };
  const events = await CLIENT_TRANSPORTS["GET + SSE"]?.(urls, { threadId: "t", runId: "r0" });
  const [started] = events as readonly { threadId: string }[];
  const { threadId = "" } = started ?? {};
  const send = async (runId: string, forwardedProps: object): Promise<number> => {
    const response = await fetch(`${fixture.url}/agents/support?session=t`, {
      method: "POST",
      body: JSON.stringify({
        threadId,
        runId,
        protocolVersion: "1.0",
        messages: [],
        forwardedProps,
      }),
    });
    await response.text();
    return response.status;
  };
  expect(await send("r1", clicks("card", "pay", "transfer"))).toBe(403);
  expect(await send("r2", clicks("card", "pay", "pay_invoice"))).toBe(200);
  expect(await send("r3", clicks("card", "pay", "pay_invoice"))).toBe(403);
});

test.each(Object.keys(AGENT_TRANSPORTS).filter((name) => name !== "GET + SSE"))(
  "a surface of an agent over %s can be clicked",
  async (name) => {
    const fixture = await start(name);
    const send = async (runId: string, forwardedProps: object): Promise<number> => {
      const response = await fetch(`${fixture.url}/agents/support`, {
        method: "POST",
        body: JSON.stringify({
          threadId: "t",
          runId,
          protocolVersion: "1.0",
          messages: [],
          forwardedProps,
        }),
      });
      await response.text();
      return response.status;
    };
    expect(await send("r1", {})).toBe(200);
    expect(await send("r2", clicks("card", "pay", "transfer"))).toBe(403);
    expect(await send("r3", clicks("card", "pay", "pay_invoice"))).toBe(200);
  },
);
