import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { OpenRecording } from "../recording/read-recording.js";
import { startReplay } from "./serve.js";
import type { Replay } from "./serve.js";

const EVENTS = [
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { type: "RUN_FINISHED", threadId: "t", runId: "r" },
];
const TEXT = EVENTS.map((event) => `${JSON.stringify(event)}\n`).join("");

const open: OpenRecording = async function* () {
  yield Buffer.from(TEXT);
};

let replay: Replay | undefined;
afterEach(async () => {
  await replay?.close();
  replay = undefined;
});

const portOf = (url: string): number => Number(new URL(url).port);
const post = async (url: string): Promise<string> =>
  (await fetch(url, { method: "POST", body: "{}" })).text();
const closeOf = (socket: WebSocket): Promise<number> =>
  new Promise((done) => {
    socket.on("error", () => {});
    socket.on("close", done);
  });

test("a port that is taken is the system's error, told once, and the other replay goes on", async () => {
  replay = await startReplay({ open, speed: Infinity });
  const port = portOf(replay.url);
  await expect(startReplay({ open, port })).rejects.toMatchObject({
    code: "EADDRINUSE",
    address: "127.0.0.1",
    port,
  });
  expect(await post(replay.url)).toContain("RUN_FINISHED");
});

test("a client that disconnects during a request ends only its own connection", async () => {
  replay = await startReplay({ open, speed: Infinity });
  const { port } = new URL(replay.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  await new Promise((done) => setTimeout(done, 50));
  socket.resetAndDestroy();
  await new Promise((done) => setTimeout(done, 50));
  expect(await post(replay.url)).toContain("RUN_FINISHED");
});

test("a frame that breaks the protocol ends its socket alone", async () => {
  replay = await startReplay({ open, speed: Infinity });
  const socket = new WebSocket(replay.webSocketUrl);
  const closed = closeOf(socket);
  await new Promise((done) => socket.once("open", done));
  socket.send(new Uint8Array([0xff]), { binary: false });
  expect(await closed).toBe(1007);
  expect(await post(replay.url)).toContain("RUN_FINISHED");
});

test("a recording that cannot be read any more ends the connection that asked for it", async () => {
  let isGone = false;
  const vanishing: OpenRecording = async function* () {
    if (isGone) throw new Error("the file is gone");
    yield Buffer.from(TEXT);
  };
  replay = await startReplay({ open: vanishing, speed: Infinity });
  isGone = true;
  await expect(post(replay.url)).rejects.toThrow();
  const socket = new WebSocket(replay.webSocketUrl);
  const closed = closeOf(socket);
  await new Promise((done) => socket.once("open", done));
  socket.send("{}");
  expect(await closed).toBe(1011);
  isGone = false;
  expect(await post(replay.url)).toContain("RUN_FINISHED");
});
