import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.js";
import { idsOf } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";

const issuer = generateKey();
const subject = generateKey();

/** An agent that changes the state, which this policy allows only with a capability. */
const mutating: FakeScript = (request) => {
  const ids = idsOf(request.body);
  return {
    pieces: [
      sseFrame({ type: "RUN_STARTED", ...ids }),
      sseFrame({ type: "STATE_SNAPSHOT", snapshot: { total: 1 } }),
      sseFrame({ type: "RUN_FINISHED", ...ids }),
    ],
  };
};

function chioToken(constraints: readonly (readonly [string, string])[]): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    schema: "chio.capability.v1",
    id: `cap-${constraints.flat().join("-")}`,
    issuer: encodeHex(issuer.publicKey),
    subject: encodeHex(subject.publicKey),
    issued_at: now - 10,
    expires_at: now + 600,
    scope: {
      grants: [
        {
          server_id: "ag-ui",
          tool_name: "mutate",
          operations: ["invoke"],
          constraints: constraints.map(([name, value]) => ({
            type: "custom",
            value: [name, value],
          })),
        },
      ],
    },
  };
  const bytes = new TextEncoder().encode(canonicalJson(claims));
  return JSON.stringify({ ...claims, signature: encodeHex(createSigner(issuer).sign(bytes)) });
}

test("a Chio token is valid for the agent whose key is its subject, and for no other", async () => {
  const other = await startFakeAgent(mutating);
  const third = await startFakeAgent(mutating);
  const key = `ed25519:${encodeHex(subject.publicKey)}`;
  const served = await startServed(mutating, {
    policy: CHAT_POLICY,
    agents:
      `    chio_keys: ["${key}"]\n  other:\n    url: ${other.url}\n` +
      `    chio_keys: ["ed25519:${encodeHex(issuer.publicKey)}"]\n  third:\n    url: ${third.url}\n`,
    config: `capabilities: { issuers: ["ed25519:${encodeHex(issuer.publicKey)}"] }\n`,
  });
  let runs = 0;
  const passes = async (agent: string, session: string): Promise<boolean> => {
    runs += 1;
    const answer = await fetch(`${served.running.dataUrl}/agents/${agent}?session=${session}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId: `t${runs}`, runId: `r${runs}`, messages: [] }),
    });
    return (await answer.text()).includes("STATE_SNAPSHOT");
  };
  const attach = async (session: string, token: string): Promise<void> => {
    const body = JSON.stringify({ token, allow_unowned_session: true });
    const answer = await served.control(`/v1/sessions/${session}/capabilities`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(answer.ok).toBe(true);
  };
  try {
    await attach("s1", chioToken([["session_id", "s1"]]));
    expect(await passes("support", "s1")).toBe(true);
    expect(await passes("other", "s1")).toBe(false);
    expect(await passes("third", "s1")).toBe(false);
    for (const [session, agent] of [
      ["s2", "support"],
      ["s3", "other"],
    ] as const) {
      await attach(
        session,
        chioToken([
          ["session_id", session],
          ["agent_id", agent],
        ]),
      );
      expect([agent, await passes("support", session)]).toEqual([agent, agent === "support"]);
      expect([agent, await passes("other", session)]).toEqual([agent, false]);
    }
  } finally {
    await served.stop();
    await other.stop();
    await third.stop();
  }
});

test("a key of an agent that is not a public key is an error of the configuration", () => {
  const text = 'agents: { a: { url: "http://127.0.0.1:1/", chio_keys: ["ed25519:12"] } }\n';
  expect(() => loadConfig(text, { file: "countersign.yaml", environment: {} })).toThrow(
    /chio_keys has a text that is not an Ed25519 public key/u,
  );
});
