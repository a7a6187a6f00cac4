import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { MAX_TOKEN_LENGTH } from "../access/access.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const INPUT = JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] });

/** How a socket closes that sends a credential where none is required, and then requests a run. */
function close(token: string): Promise<string> {
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws`);
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("open", () => {
      socket.send(JSON.stringify({ type: "AUTH", token }));
      socket.ping();
    });
    socket.on("pong", () => socket.send(INPUT));
    socket.on("message", (data) => {
      if (String(data).includes("RUN_FINISHED")) socket.close(1000);
    });
    socket.on("close", (code, reason) => resolve(`${code} ${reason.toString()}`));
  });
}

test("a token that no header can hold is rejected on a socket too, and reaches no agent", async () => {
  fixture = await startFixture(HELD_AGENT, { target: { forwardAuthorization: true } });
  for (const odd of ["a\r\nX-Evil: 1", "a b", "ü", "x".repeat(MAX_TOKEN_LENGTH + 1)]) {
    expect(await close(odd)).toBe("4401 ERR_ACCESS_TOKEN");
  }
  expect(fixture.agentRequests).toEqual([]);
  expect(await close("plain.token-1==")).toBe("1000 ");
  expect(fixture.agentRequests[0]?.headers["authorization"]).toBe("Bearer plain.token-1==");
});
