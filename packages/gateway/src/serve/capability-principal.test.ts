import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createApiKey } from "../access/api-keys.js";
import { idsOf } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

const keys = { alice: createApiKey(), bob: createApiKey() };
type Who = keyof typeof keys;

let served: Served | undefined;
/** The token in the header of the agent's response. */
let brought: string | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
  brought = undefined;
});

/** An agent that changes the state, which this policy allows only with a capability. */
async function start(): Promise<Served> {
  served = await startServed(
    (request) => {
      const ids = idsOf(request.body);
      return {
        ...(brought === undefined ? {} : { headers: { "countersign-capability": brought } }),
        pieces: [
          sseFrame({ type: "RUN_STARTED", ...ids }),
          sseFrame({ type: "STATE_SNAPSHOT", snapshot: { total: 1 } }),
          sseFrame({ type: "RUN_FINISHED", ...ids }),
        ],
      };
    },
    {
      policy: CHAT_POLICY,
      config: `access:
  mode: keys
  keys: { entries: { alice: "${keys.alice.hash}", bob: "${keys.bob.hash}" } }
`,
    },
  );
  return served;
}

let runs = 0;
const nextInput = (): object => {
  runs += 1;
  return { protocolVersion: "1.0", threadId: `t-${runs}`, runId: `r-${runs}`, messages: [] };
};

async function overPost(who: Who, session: string): Promise<boolean> {
  const answer = await fetch(`${served?.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys[who].key}` },
    body: JSON.stringify(nextInput()),
  });
  return (await answer.text()).includes("STATE_SNAPSHOT");
}

function overSocket(who: Who, session: string): Promise<boolean> {
  const url = `${served?.running.dataUrl.replace("http", "ws")}/ws?session=${session}`;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${keys[who].key}` } });
    let seen = "";
    socket.on("open", () => socket.send(JSON.stringify(nextInput())));
    socket.on("message", (data) => {
      seen += String(data);
      if (/RUN_FINISHED|RUN_ERROR/u.test(seen)) socket.close();
    });
    socket.on("close", () => resolve(seen.includes("STATE_SNAPSHOT")));
    socket.on("error", reject);
  });
}

const issue = async (body: object): Promise<[number, Record<string, unknown>]> => {
  const grant = { agent: "support", scopes: ["ui:*:*"], ...body };
  const init = { method: "POST", body: JSON.stringify(grant) };
  const answer = await served?.control("/v1/capabilities", init);
  return [answer?.status ?? 0, (await answer?.json()) as Record<string, unknown>];
};

test("the first client to use a session gains nothing from a capability that names another principal", async () => {
  await start();
  const [refused, why] = await issue({ session_id: "s1" });
  expect([refused, why["code"]]).toEqual([409, "ERR_CONTROL_SESSION_OWNER"]);
  expect(why["title"]).toMatch(/no owner.*Fix: .*allow_unowned_session/u);
  const named = { session_id: "s1", principal: "key:alice" };
  expect((await issue(named))[0]).toBe(409);
  const [status, issued] = await issue({ ...named, allow_unowned_session: true });
  expect([status, issued["principal"], issued["session_owner"]]).toEqual([201, "key:alice", null]);

  expect(await overPost("bob", "s1")).toBe(false);
  expect(await overSocket("bob", "s1")).toBe(false);
  brought = String(issued["token"]);
  expect(await overPost("bob", "s1")).toBe(false);
  expect(await overSocket("bob", "s1")).toBe(false);
  const [late, told] = await issue(named);
  expect([late, told["title"]]).toEqual([409, expect.stringContaining("key:bob")]);
});

test("a capability for a session is for the principal that owns it, over every transport", async () => {
  await start();
  expect(await overPost("alice", "s2")).toBe(false);
  const [status, issued] = await issue({ session_id: "s2" });
  expect([status, issued["principal"], issued["session_owner"]]).toEqual([
    201,
    "key:alice",
    "key:alice",
  ]);
  expect(await overPost("alice", "s2")).toBe(true);
  expect(await overSocket("alice", "s2")).toBe(true);
  // Without a session it is valid in every session of that principal, and in no other.
  const [, wide] = await issue({ principal: "key:alice" });
  brought = String(wide["token"]);
  expect(await overPost("alice", "s3")).toBe(true);
  expect(await overSocket("bob", "s4")).toBe(false);
  const shown = await served?.control("/v1/sessions/s2");
  expect(await shown?.json()).toMatchObject({ owner: "key:alice" });
});
