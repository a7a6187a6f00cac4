import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { LightSignal } from "@countersign/core";
import { createFrameQueue } from "./frame-queue.js";
import type { UpstreamTarget } from "./upstream.js";

const TARGET: UpstreamTarget = {
  name: "support",
  url: new URL("ws://agent.invalid/"),
  transport: "websocket",
  headers: {},
  frames: "json",
  dialect: "auto",
  answerTimeoutMs: 1000,
  idleTimeoutMs: 1000,
};

/** The part of a socket that the queue uses; its peer never answers a close. */
class DeafSocket extends EventEmitter {
  isPaused = false;
  closes = 0;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(): void {
    this.closes += 1;
  }

  say(text: string): void {
    this.emit("message", Buffer.from(text), false);
  }
}

test("frames after the end of a run are dropped and do not keep the socket from closing", () => {
  const socket = new DeafSocket();
  const pieces = createFrameQueue(TARGET, socket as unknown as WebSocket, new LightSignal());
  for (let count = 0; count < 256; count += 1) socket.say("{}");
  expect(socket.isPaused).toBe(true);
  pieces.close();
  expect(socket).toMatchObject({ isPaused: false, closes: 1 });
  for (let count = 0; count < 1_000; count += 1) socket.say("{}");
  expect(socket.isPaused).toBe(false);
  expect(pieces.take()).toBe("over");
});
