import type { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { Feed } from "./feed.js";

/** Decisions a watcher may be behind. */
const MAX_WAITING = 1000;

/** Every decision as it is recorded, as server-sent events. */
export function addFeedRoute(app: Hono, feed: Feed): void {
  app.get("/v1/events", (context) =>
    streamSSE(context, async (stream) => {
      const waiting = [...feed.recent()];
      let wake: (() => void) | undefined;
      const stop = feed.listen((item) => {
        // A watcher that cannot keep up loses the oldest lines, never the gateway's time.
        if (waiting.length >= MAX_WAITING) waiting.shift();
        waiting.push(item);
        wake?.();
      });
      stream.onAbort(() => {
        stop();
        wake?.();
      });
      while (!stream.aborted) {
        const item = waiting.shift();
        if (item !== undefined) await stream.writeSSE({ data: JSON.stringify(item) });
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    }),
  );
}
