import { createServer } from "node:net";

/**
 * Rejects with the system's error when a port of the loopback interface cannot be had. Servers that also speak
 * WebSocket would report it twice, the second time to nobody.
 */
export function requireFreePort(port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
