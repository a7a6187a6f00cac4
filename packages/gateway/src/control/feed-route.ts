import type { Hono } from "hono";
import type { Feed } from "../telemetry/feed.js";
import { createFeedStream } from "./feed-stream.js";

/** Every decision as it is recorded, as server-sent events. */
export function addFeedRoute(app: Hono, feed: Feed): void {
  app.get("/v1/events", (context) =>
    context.body(createFeedStream(feed), 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      // The server would otherwise wait for a first decision before it answers.
      "transfer-encoding": "chunked",
    }),
  );
}
