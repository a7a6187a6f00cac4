import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { expect } from "vitest";
import { idsOf } from "./events.js";
import type { Fixture } from "./fixture.js";
import { readStream } from "./stream-reader.js";
import type { ReadFrame, ReadOptions, StreamReader } from "./stream-reader.js";

/** An agent that sends its message word by word, on the test's command. */
export function createTalker(words: number, size = 1) {
  const hungUp: string[] = [];
  let gates = 0;
  let open = (): void => {};
  const script: FakeScript = (request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request.body);
      request.signal.addEventListener("abort", () => void hungUp.push(ids.runId), { once: true });
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" });
      for (let word = 0; word < words; word += 1) {
        while (gates <= word && !request.signal.aborted) {
          await new Promise<void>((resolve) => {
            open = resolve;
            request.signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
        const delta = `${word} `.padEnd(size, "x");
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta });
      }
      yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m1" });
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
    })(),
  });
  return {
    script,
    hungUp,
    /** Lets the agent send words up to this total. */
    upTo(count: number): void {
      gates = count;
      open();
    },
  };
}

/** The agent that {@link createTalker} creates. */
export type Talker = ReturnType<typeof createTalker>;

/** The request. */
export const INPUT = {
  threadId: "t1",
  runId: "r1",
  protocolVersion: "1.0",
  messages: [{ id: "u1", role: "user", content: "hello" }],
};

/** Requests a resumable stream. */
export function ask(
  context: Pick<Fixture, "url">,
  options: ReadOptions = {},
  query = "",
): Promise<StreamReader> {
  const url = `${context.url}/agents/support?reconnect=1${query}`;
  return readStream(url, { body: INPUT, ...options });
}

/** Resumes the stream after a frame. */
export function comeBack(
  context: Pick<Fixture, "url">,
  last: ReadFrame | undefined,
  { headers, ...options }: ReadOptions = {},
  query = "",
): Promise<StreamReader> {
  const position = { ...headers, "last-event-id": last?.id ?? "" };
  return ask(context, { ...options, headers: position }, query);
}

/** Waits until the gateway has noticed that a client disconnected. */
export function noticed({ gateway }: Fixture): Promise<void> {
  const { openRuns } = gateway.context.telemetry;
  return expect.poll(() => [...openRuns].every(({ sink }) => sink.isDisconnected)).toBe(true);
}

/** The types of the frames' events. */
export const typesOf = (frames: readonly ReadFrame[]): string[] =>
  frames.map(({ data }) => (JSON.parse(data) as { type: string }).type);

/** The text of the frames' events. */
export const textOf = (frames: readonly ReadFrame[]): string =>
  frames.map(({ data }) => (JSON.parse(data) as { delta?: string }).delta ?? "").join("");
