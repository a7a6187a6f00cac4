import { WebSocket } from "ws";
import type { SeenEvent } from "./client.js";

/** A client's socket, its received events, and its close code. */
export type Talk = {
  readonly socket: WebSocket;
  readonly seen: SeenEvent[];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Sends text as it is, anything else as JSON. */
  say(value: object | string): void;
};

/** Opens a socket with a real client. */
export async function openTalk(url: string, headers: Record<string, string> = {}): Promise<Talk> {
  const socket = new WebSocket(url, { headers });
  const seen: SeenEvent[] = [];
  socket.on("message", (data) => void seen.push(JSON.parse(String(data)) as SeenEvent));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    socket,
    seen,
    closed,
    say: (value) => socket.send(typeof value === "string" ? value : JSON.stringify(value)),
  };
}

/** A problem document as a client gets it. */
export type ToldProblem = {
  readonly status: number;
  readonly code: string;
  readonly receipt?: string;
  readonly [member: string]: unknown;
};

/** The problem document in an error event on a socket. */
export function problemIn({ metadata }: SeenEvent): ToldProblem {
  return (metadata as { countersign: { problem: ToldProblem } }).countersign.problem;
}
