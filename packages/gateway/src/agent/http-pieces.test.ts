import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HttpPieces } from "./http-pieces.js";
import type { UpstreamPiece, UpstreamTarget } from "./upstream.js";

const TARGET: UpstreamTarget = {
  name: "support",
  url: new URL("http://agent.invalid/"),
  transport: "post-sse",
  headers: {},
  frames: "json",
  dialect: "auto",
  answerTimeoutMs: 1000,
  idleTimeoutMs: 40,
};

function open(signal = new AbortController().signal) {
  const response = new PassThrough();
  const pieces = new HttpPieces(TARGET, response as unknown as IncomingMessage, "sse", signal);
  /** Waits until there is something to take, as a run does, and takes it. */
  const next = async (): Promise<string> => {
    await new Promise<void>((resolve) => pieces.whenReady(resolve));
    const taken = pieces.take();
    return typeof taken === "string" ? taken : textOf(taken);
  };
  return { response, pieces, next };
}

const textOf = (piece: UpstreamPiece): string =>
  piece.kind === "sse" ? Buffer.from(piece.bytes).toString() : "";
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

test("reads come in order, then the end", async () => {
  const { response, pieces, next } = open();
  expect(pieces.take()).toBe("nothing yet");
  response.write("a");
  expect(await next()).toBe("a");
  response.end("b");
  expect(await next()).toBe("b");
  expect(await next()).toBe("over");
  expect(await next()).toBe("over");
});

test("chunks that arrive together are one piece", async () => {
  const { response, pieces, next } = open();
  const asked = next();
  for (const text of ["a", "b", "c"]) response.emit("data", Buffer.from(text));
  expect(await asked).toBe("abc");
  for (const text of ["d", "e"]) response.emit("data", Buffer.from(text));
  expect(await next()).toBe("de");
  pieces.close();
});

test("chunks of any sizes are joined in order", async () => {
  const { response, pieces, next } = open();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 10 }),
      async (sizes) => {
        const texts = sizes.map((size, at) => String.fromCharCode(97 + at).repeat(size));
        const asked = next();
        for (const text of texts) response.emit("data", Buffer.from(text));
        expect(await asked).toBe(texts.join(""));
      },
    ),
  );
  pieces.close();
});

test("unread data makes the agent wait: one read's worth is buffered", async () => {
  const { response, pieces, next } = open();
  response.write("first");
  await next();
  const asked = next();
  const block = Buffer.alloc(16 * 1024);
  let written = 0;
  while (response.write(block) && written < 100) written += 1;
  await asked;
  await pause(5);
  for (let index = 0; index < 100; index += 1) response.write(block);
  await pause(5);
  expect(response.isPaused()).toBe(true);
  expect(response.readableLength + response.writableLength).toBeGreaterThan(80 * block.length);
  let bytes = 0;
  while (bytes < 80 * block.length) {
    const { length } = await next();
    expect(length).toBeLessThan(2 * 64 * 1024);
    bytes += length;
  }
  pieces.close();
  expect(response.destroyed).toBe(true);
});

test("data from before a broken connection is returned first, then the failure, once", async () => {
  const { response, next } = open();
  response.write("a");
  await next();
  response.write("b");
  await pause(2);
  response.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  await pause(2);
  expect(await next()).toBe("b");
  await expect(next()).rejects.toMatchObject({
    code: "ERR_UPSTREAM_BROKEN",
    facts: { reason: "ECONNRESET" },
  });
  expect(await next()).toBe("over");
});

test("a connection that closes without an end is broken; one that the gateway closed is not", async () => {
  const broken = open();
  const asked = broken.next();
  broken.response.destroy();
  await expect(asked).rejects.toMatchObject({ code: "ERR_UPSTREAM_BROKEN" });
  const stop = new AbortController();
  const stopped = open(stop.signal);
  const last = stopped.next();
  stop.abort();
  stopped.response.destroy();
  expect(await last).toBe("over");
});

test("silence is measured only while the gateway reads, from the last byte on", async () => {
  const { response, next } = open();
  response.write("a");
  await next();
  await pause(60);
  response.write("b");
  expect(await next()).toBe("b");
  await expect(next()).rejects.toMatchObject({
    code: "ERR_UPSTREAM_TIMEOUT",
    facts: { phase: "idle", milliseconds: 40 },
  });
});
