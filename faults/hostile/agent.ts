import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Scene } from "../harness/scene.js";
import type { HostileAnswer } from "./streams.js";

/** An agent that answers with exactly the bytes it is told to, and keeps what it was asked. */
export type RawAgent = {
  readonly url: string;
  /** Bodies of requests since they were last taken away. */
  readonly asked: string[];
};

/** Starts it; `answer` is asked with the body of each request. */
export async function startRawAgent(
  scene: Scene,
  answer: (body: string) => HostileAnswer | undefined,
): Promise<RawAgent> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => {});
    let head = Buffer.alloc(0);
    const hear = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(
        /content-length: (\d+)/iu.exec(head.toString("latin1", 0, end))?.[1] ?? 0,
      );
      if (head.length < end + 4 + length) return;
      socket.off("data", hear);
      const body = head.toString("utf8", end + 4, end + 4 + length);
      asked.push(body);
      void reply(socket, answer(body));
    };
    socket.on("data", hear);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  scene.defer(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

async function reply(socket: Socket, answer: HostileAnswer | undefined): Promise<void> {
  for (const bytes of answer?.writes ?? []) {
    socket.write(bytes);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  if (answer?.resets === true) socket.resetAndDestroy();
  else socket.end();
}
