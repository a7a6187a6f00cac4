import { concatBytes } from "@countersign/core";
import { HEARTBEAT_MS } from "../base/heartbeats.js";
import type { Feed, FeedBatch } from "../telemetry/feed.js";
import type { ControlApp } from "./control-env.js";

/** Bytes that may wait for a subscriber, about 2,500 decisions. */
export const MAX_WAITING_BYTES = 1024 * 1024;

/** An SSE comment, which clients skip: it tells an idle connection from a dead one. */
const HEARTBEAT = new TextEncoder().encode(": heartbeat\n\n");

/**
 * The feed for one subscriber: each read returns everything that waits.
 *
 * A subscriber that cannot keep up loses the oldest decisions and is told how many; it never slows the gateway. The
 * subscription begins with the first read: a response whose body is not read (HEAD) costs nothing. The stream ends when
 * the operator's credential does.
 */
export function createFeedStream(
  feed: Feed,
  heartbeatMs: number = HEARTBEAT_MS,
  isAllowed: () => boolean = () => true,
): ReadableStream<Uint8Array> {
  const waiting = createWaiting();
  let isCancelled = false;
  let stop: (() => void) | undefined;
  let wake: (() => void) | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        stop ??= feed.watch((batch) => {
          waiting.push(batch);
          wake?.();
        });
        if (waiting.isEmpty()) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, heartbeatMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        if (!isCancelled && !isAllowed()) {
          isCancelled = true;
          stop?.();
          controller.close();
        }
        if (!isCancelled) controller.enqueue(waiting.isEmpty() ? HEARTBEAT : waiting.take());
      },
      cancel: () => {
        isCancelled = true;
        stop?.();
        waiting.take();
        wake?.();
      },
    },
    { highWaterMark: 0 },
  );
}

type Waiting = { push(batch: FeedBatch): void; isEmpty(): boolean; take(): Uint8Array };

function createWaiting(): Waiting {
  let batches: FeedBatch[] = [];
  let total = 0;
  let lost = 0;
  return {
    push: (batch) => {
      batches.push(batch);
      total += batch.bytes.byteLength;
      while (total > MAX_WAITING_BYTES && batches.length > 1) {
        const oldest = batches.shift();
        total -= oldest?.bytes.byteLength ?? 0;
        lost += oldest?.count ?? 0;
      }
    },
    isEmpty: () => batches.length === 0,
    take: () => {
      const parts = batches.map(({ bytes }) => bytes);
      if (lost > 0) parts.unshift(new TextEncoder().encode(`: ${lost} decisions left out\n\n`));
      batches = [];
      total = 0;
      lost = 0;
      const [only] = parts;
      return parts.length === 1 && only !== undefined ? only : concatBytes(...parts);
    },
  };
}

/** Streams every decision as it is recorded, as server-sent events. */
export function addFeedRoute(app: ControlApp, feed: Feed): void {
  app.get("/v1/events", (context) =>
    context.body(createFeedStream(feed, HEARTBEAT_MS, context.get("operator").isValid), 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      // Otherwise the server would wait for the first decision before it responds.
      "transfer-encoding": "chunked",
    }),
  );
}
