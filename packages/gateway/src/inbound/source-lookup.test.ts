import { afterEach, expect, test } from "vitest";
import { sendTo } from "../testing/begun-thread.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { sseFrame } from "@countersign/testkit";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { findPublicHosts, isPublicAddress } from "./source-lookup.js";

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "172.32.0.1",
  "100.128.0.1",
  "2606:4700::1111",
  "2a00:1450:4001::1",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.53",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:8.8.8.8",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b:1::1",
  "fd00::1",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "2001:db8::1",
  "2001:0:a00:1::",
  "2002:a00:1::",
  "not an address",
])("%s is not", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "cdn.example": ["8.8.8.8", "2606:4700::1111"],
  "inside.example": ["10.0.0.1"],
  "both.example": ["8.8.8.8", "10.0.0.1"],
  "empty.example": [],
};
const lookupHost = async (host: string): Promise<readonly string[]> => {
  const addresses = ADDRESSES[host];
  if (addresses === undefined) throw new Error("no such name");
  return addresses;
};

test("a host is public if every one of its addresses is", async () => {
  const hosts = new Set([...Object.keys(ADDRESSES), "unknown.example"]);
  expect([...(await findPublicHosts(hosts, lookupHost))]).toEqual(["cdn.example"]);
});

test("a host that takes too long, and any host after the first sixteen, is not public", async () => {
  const never = new Promise<never>(() => {});
  const slow = (host: string): Promise<readonly string[]> =>
    host === "slow.example" ? never : lookupHost(host);
  const found = await findPublicHosts(new Set(["slow.example", "cdn.example"]), slow, 1);
  expect([...found]).toEqual(["cdn.example"]);
  let asked = 0;
  const many = new Set(Array.from({ length: 40 }, (_, at) => `h${at}.example`));
  const all = await findPublicHosts(many, async () => {
    asked += 1;
    return ["8.8.8.8"];
  });
  expect([asked, all.size]).toEqual([16, 16]);
});

let fixture: Fixture | undefined;
afterEach(() => fixture?.stop());

test("with sources: resolve a request passes only if its hosts are public; without it no host is resolved", async () => {
  const asked: string[] = [];
  const start = (sources: string): Promise<Fixture> =>
    startFixture(({ body }) => ({ pieces: inRun(idsOf(body), text("a", "hi")).map(sseFrame) }), {
      policy: `${OPEN_POLICY}  ag_ui_content: { sources: ${sources} }\n`,
      gateway: {
        lookupHost: (host) => {
          asked.push(host);
          return lookupHost(host);
        },
      },
    });
  const send = (runId: string, ...hosts: readonly string[]): ReturnType<typeof sendTo> => {
    const content = hosts.map((host) => ({
      type: "image",
      source: { type: "url", value: `https://${host}/a.png` },
    }));
    const messages = [{ id: `u-${runId}`, role: "user", content }];
    const input = { threadId: `t-${runId}`, runId, protocolVersion: "1.0", messages };
    return sendTo(fixture as Fixture, JSON.stringify(input));
  };
  fixture = await start("resolve");
  expect((await send("r1", "cdn.example")).status).toBe(200);
  for (const [runId, host] of [
    ["r2", "inside.example"],
    ["r3", "both.example"],
    ["r4", "unknown.example"],
  ] as const) {
    const answer = await send(runId, "cdn.example", host);
    expect([answer.status, answer.code]).toEqual([403, "ERR_INBOUND_BLOCKED"]);
  }
  expect(fixture.agentRequests).toHaveLength(1);
  await fixture.stop();
  asked.length = 0;
  fixture = await start("block");
  expect((await send("r5", "inside.example")).status).toBe(200);
  expect(asked).toEqual([]);
});
