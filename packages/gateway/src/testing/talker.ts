import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { expect } from "vitest";
import { idsOf } from "../testing/events.js";
import type { Fixture } from "../testing/fixture.js";
import { readStream } from "../testing/stream-reader.js";
import type { ReadFrame, ReadOptions, StreamReader } from "../testing/stream-reader.js";

/** An agent that says so many words of its message, each when it is told to. */
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
    /** Lets it say this many words in all. */
    upTo(count: number): void {
      gates = count;
      open();
    },
  };
}

/** One of them. */
export type Talker = ReturnType<typeof createTalker>;

/** What is asked. */
export const INPUT = {
  threadId: "t1",
  runId: "r1",
  protocolVersion: "1.0",
  messages: [{ id: "u1", role: "user", content: "hello" }],
};

/** Asks, and wants to be able to come back. */
export function ask(
  context: Pick<Fixture, "url">,
  options: ReadOptions = {},
): Promise<StreamReader> {
  return readStream(`${context.url}/agents/support?reconnect=1`, { body: INPUT, ...options });
}

/** Asks for what is behind a frame. */
export function comeBack(
  context: Pick<Fixture, "url">,
  last: ReadFrame | undefined,
  { headers, ...options }: ReadOptions = {},
): Promise<StreamReader> {
  return ask(context, { ...options, headers: { ...headers, "last-event-id": last?.id ?? "" } });
}

/** Waits until the gateway knows that a client has lost its connection. */
export function noticed({ gateway }: Fixture): Promise<void> {
  const { openRuns } = gateway.context.telemetry;
  return expect.poll(() => [...openRuns].every(({ sink }) => sink.isAway)).toBe(true);
}

/** The types of events. */
export const typesOf = (frames: readonly ReadFrame[]): string[] =>
  frames.map(({ data }) => (JSON.parse(data) as { type: string }).type);

/** What was said. */
export const textOf = (frames: readonly ReadFrame[]): string =>
  frames.map(({ data }) => (JSON.parse(data) as { delta?: string }).delta ?? "").join("");
