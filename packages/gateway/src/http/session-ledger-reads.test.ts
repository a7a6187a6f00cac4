import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createAccess } from "../access/access.js";
import { createKeyAuthenticator, createApiKey } from "../access/api-keys.js";
import { createMemoryStore } from "../store/memory-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

test("the owner of a session costs a run no ledger read of its own, and is read once", async () => {
  const { key, hash } = createApiKey();
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const claim = vi.spyOn(ledger, "claim");
  const access = createAccess([createKeyAuthenticator(() => [{ name: "bot", hash }])]);
  fixture = await startFixture(HELD_AGENT, { gateway: { access, ledger } });
  /** The ledger reads of a run. */
  const questionsOf = async (runId: string, query: string): Promise<string[][]> => {
    claim.mockClear();
    const answer = await fetch(`${fixture.url}/agents/support${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ protocolVersion: "1.0", threadId: `t-${runId}`, runId, messages: [] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    return claim.mock.calls.map(([claims]) => claims.map(({ row }) => row.kind));
  };
  const unnamed = await questionsOf("r1", "");
  const first = await questionsOf("r2", "?session=s");
  const second = await questionsOf("r3", "?session=s");
  expect(first).toHaveLength(unnamed.length);
  expect(first.flat().filter((kind) => kind === "session")).toHaveLength(1);
  expect(second).toEqual(unnamed);
});

test("a rejected ticket request writes nothing, whatever session it names", async () => {
  const { key, hash } = createApiKey();
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const claim = vi.spyOn(ledger, "claim");
  const access = createAccess([createKeyAuthenticator(() => [{ name: "bot", hash }])]);
  fixture = await startFixture(HELD_AGENT, { gateway: { access, ledger } });
  const statuses: number[] = [];
  for (let count = 0; count < 103; count += 1) {
    const answer = await fetch(`${fixture.url}/ag-ui/tickets?session=s${count}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
    });
    statuses.push(answer.status);
    await answer.text();
  }
  expect(statuses.slice(99)).toEqual([201, 429, 429, 429]);
  expect(claim).toHaveBeenCalledTimes(100);
});

test("an invalid session id is rejected on every path, and the agent is not called", async () => {
  fixture = await startFixture(HELD_AGENT);
  const body = JSON.stringify({ threadId: "t", runId: "r", messages: [] });
  for (const [method, path] of [
    ["POST", "/agents/support"],
    ["GET", "/ag-ui/stream"],
    ["POST", "/ag-ui/tickets"],
    ["POST", "/ag-ui/stop"],
  ]) {
    for (const name of ["a%20b", "", "s".repeat(257)]) {
      const answer = await fetch(`${fixture.url}${path}?session=${name}`, {
        method: method ?? "",
        ...(method === "POST" ? { body } : {}),
      });
      expect([path, answer.status]).toEqual([path, 400]);
      expect(await answer.json()).toMatchObject({
        code: "ERR_SESSION_NAME",
        remedy: expect.stringContaining("letters"),
      });
    }
  }
  const socket = new WebSocket(`${fixture.url.replace("http", "ws")}/ws?session=a%20b`);
  const status = await new Promise((resolve) => {
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    socket.on("error", () => undefined);
  });
  expect(status).toBe(400);
});
