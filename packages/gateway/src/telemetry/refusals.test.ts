import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { startFixture } from "../testing/fixture.js";
import { post } from "../testing/transports.js";

test("each rejected request counts once, under its code, on every transport; an open socket is counted while it is open", async () => {
  const lines: [object, string][] = [];
  const note = (facts: object, message: string) => void lines.push([facts, message]);
  const fixture = await startFixture(() => ({ pieces: [] }), {
    gateway: { journal: { debug: note, info: note, warn: note, error: note } },
  });
  const { telemetry } = fixture.gateway.context;
  try {
    const response = await post(`${fixture.url}/agents/support`, { threadId: 1 });
    expect(response.status).toBe(400);
    const { code } = (await response.json()) as { code: string };
    expect([...telemetry.refusals.entries()]).toEqual([[code, "", 1]]);
    expect(lines.filter(([, message]) => message === "refused")).toHaveLength(1);
    const socket = new WebSocket(`${fixture.webSocketUrl}/ws?session=s1`);
    await new Promise((resolve) => socket.once("open", resolve));
    await expect.poll(() => telemetry.sockets.open).toBe(1);
    socket.send("{");
    await new Promise((resolve) => socket.once("close", resolve));
    await expect.poll(() => telemetry.sockets.open).toBe(0);
    expect(telemetry.refusals.total).toBe(2);
    expect(telemetry.sockets.queued).toBe(0);
    expect(JSON.stringify(lines)).not.toContain("threadId");
  } finally {
    await fixture.stop();
  }
});
