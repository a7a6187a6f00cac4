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

test("a frozen server accepts connections and sends no response until it is thawed", async () => {
  const server = await startPostgres();
  try {
    await server.freeze();
    expect(await reachable(server.url)).toBe(true);
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const answers: Buffer[] = [];
    socket.on("data", (answer) => answers.push(answer));
    // SSLRequest: a server says S or N at once.
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    expect(answers).toEqual([]);
    await server.thaw();
    await expect.poll(() => answers.length).toBe(1);
    socket.destroy();
  } finally {
    await server.stop();
  }
});
