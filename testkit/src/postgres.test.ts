import { connect } from "node:net";
import { expect, test } from "vitest";
import { startPostgres } from "./postgres.js";

function reachable(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

test("a started server accepts connections, comes back after a crash, and is gone after stop", async () => {
  const server = await startPostgres();
  try {
    expect(await reachable(server.url)).toBe(true);
    await server.crash();
    expect(await reachable(server.url)).toBe(false);
    await server.start();
    expect(await reachable(server.url)).toBe(true);
  } finally {
    await server.stop();
  }
  expect(await reachable(server.url)).toBe(false);
});
