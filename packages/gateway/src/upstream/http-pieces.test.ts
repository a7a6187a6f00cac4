import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readHttpPieces } from "./http-pieces.js";
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
  const pieces = readHttpPieces(TARGET, response as unknown as IncomingMessage, "sse", signal);
  return { response, reader: pieces[Symbol.asyncIterator]() };
}

const textOf = (piece: UpstreamPiece | undefined): string =>
  piece?.kind === "sse" ? Buffer.from(piece.bytes).toString() : "";
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

test("reads come in order, then the end", async () => {
  const { response, reader } = open();
  response.write("a");
  expect(textOf((await reader.next()).value as UpstreamPiece)).toBe("a");
  response.end("b");
  expect(textOf((await reader.next()).value as UpstreamPiece)).toBe("b");
  expect((await reader.next()).done).toBe(true);
  expect((await reader.next()).done).toBe(true);
});

test("chunks that come in one go are one piece", async () => {
  const { response, reader } = open();
  const asked = reader.next();
  for (const text of ["a", "b", "c"]) response.emit("data", Buffer.from(text));
  expect(textOf((await asked).value as UpstreamPiece)).toBe("abc");
  for (const text of ["d", "e"]) response.emit("data", Buffer.from(text));
  expect(textOf((await reader.next()).value as UpstreamPiece)).toBe("de");
  await reader.return?.();
});

test("a reader that does not ask makes the agent wait: one read's worth is held", async () => {
  const { response, reader } = open();
  response.write("first");
  await reader.next();
  const asked = reader.next();
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
    const { value } = (await reader.next()) as { value: { bytes: Uint8Array } };
    expect(value.bytes.byteLength).toBeLessThan(2 * 64 * 1024);
    bytes += value.bytes.byteLength;
  }
  await reader.return?.();
});

test("what came before a stream broke off is read first, then the failure, once", async () => {
  const { response, reader } = open();
  response.write("a");
  await reader.next();
  response.write("b");
  await pause(2);
  response.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  await pause(2);
  expect(textOf((await reader.next()).value as UpstreamPiece)).toBe("b");
  await expect(reader.next()).rejects.toMatchObject({
    code: "ERR_UPSTREAM_BROKEN",
    facts: { reason: "ECONNRESET" },
  });
  expect((await reader.next()).done).toBe(true);
});

test("a connection that closes without an end is broken off; one that we closed is not", async () => {
  const broken = open();
  const asked = broken.reader.next();
  broken.response.destroy();
  await expect(asked).rejects.toMatchObject({ code: "ERR_UPSTREAM_BROKEN" });
  const stop = new AbortController();
  const stopped = open(stop.signal);
  const last = stopped.reader.next();
  stop.abort();
  stopped.response.destroy();
  expect((await last).done).toBe(true);
});

test("silence counts only while somebody listens, from the last byte on", async () => {
  const { response, reader } = open();
  response.write("a");
  await reader.next();
  await pause(60);
  response.write("b");
  expect(textOf((await reader.next()).value as UpstreamPiece)).toBe("b");
  await expect(reader.next()).rejects.toMatchObject({
    code: "ERR_UPSTREAM_TIMEOUT",
    facts: { phase: "idle", milliseconds: 40 },
  });
});
