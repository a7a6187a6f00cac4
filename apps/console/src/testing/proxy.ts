import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A line to the gateway that changes what it carries. */
export type Proxy = {
  readonly url: string;
  /** Ends every connection, as a broken line would. */
  tear(): void;
  stop(): Promise<void>;
};

/** Passes everything on; answers whose path matches are handed to `change`. */
export async function startProxy(
  target: string,
  matches: RegExp,
  change: (body: Buffer) => Buffer,
): Promise<Proxy> {
  const server = createServer((asked, data) => {
    const path = asked.url ?? "/";
    const onward = request(
      new URL(path, target),
      { method: asked.method, headers: asked.headers },
      (got) => {
        data.writeHead(got.statusCode ?? 502, got.headers);
        if (!matches.test(path)) {
          got.pipe(data);
          return;
        }
        const parts: Buffer[] = [];
        got.on("data", (part: Buffer) => parts.push(part));
        got.on("end", () => data.end(change(Buffer.concat(parts))));
      },
    );
    onward.on("error", () => data.destroy());
    data.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tear: () => server.closeAllConnections(),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
