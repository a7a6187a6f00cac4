import { sseFrame } from "@countersign/testkit";
import type { FakeAnswer, FakePiece, FakeRequest } from "@countersign/testkit";
import type { SeenEvent } from "./client.js";

/** The ids of a run, as an agent answers with them. */
export type RunIds = { threadId: string; runId: string };

/** Reads the ids out of the request an agent was sent. */
export function idsOf(request: FakeRequest): RunIds {
  const { threadId, runId } = JSON.parse(request.body) as RunIds;
  return { threadId, runId };
}

/** A whole text message. */
export function message(messageId: string, ...deltas: string[]): SeenEvent[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

/** A run around some events. */
export function inRun(ids: RunIds, events: readonly SeenEvent[]): SeenEvent[] {
  return [{ type: "RUN_STARTED", ...ids }, ...events, { type: "RUN_FINISHED", ...ids }];
}

/** Resolves when the peer of a request has gone. */
export function gone(request: FakeRequest): Promise<unknown> {
  if (request.signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    request.signal.addEventListener("abort", resolve, { once: true });
  });
}

/** Streams words for as long as somebody listens; every event is unlike every other. */
export function chatter(request: FakeRequest, everyMs = 0): FakeAnswer {
  return {
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const messageId = `m-${ids.runId}`;
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      for (let count = 0; !request.signal.aborted; count += 1) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `word ${count} ` });
        // Back to the loop now and then, or one run would starve the others.
        if (everyMs > 0 || count % 16 === 0) {
          await new Promise((resolve) => {
            setTimeout(resolve, everyMs);
          });
        }
      }
    })(),
  };
}
