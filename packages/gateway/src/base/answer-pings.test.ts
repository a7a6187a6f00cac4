import { EventEmitter } from "node:events";
import type { WebSocket } from "ws";
import { expect, test } from "vitest";
import { answerPings, MAX_UNREAD_BYTES } from "./heartbeats.js";

test("a ping is answered up to the limit of unread bytes, and not one byte above it", () => {
  const answers: unknown[] = [];
  const socket = Object.assign(new EventEmitter(), {
    bufferedAmount: 0,
    pong: (data: unknown) => void answers.push(data),
  });
  answerPings(socket as unknown as WebSocket);
  for (const waiting of [0, MAX_UNREAD_BYTES, MAX_UNREAD_BYTES + 1]) {
    socket.bufferedAmount = waiting;
    socket.emit("ping", waiting);
  }
  expect(answers).toEqual([0, MAX_UNREAD_BYTES]);
});
