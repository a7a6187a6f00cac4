import type { Hono } from "hono";
import type { Feed } from "../telemetry/feed.js";
import { createFeedStream } from "./feed-stream.js";

/** Streams every decision as it is recorded, as server-sent events. */
export function addFeedRoute(app: Hono, feed: Feed): void {
  app.get("/v1/events", (context) =>
    context.body(createFeedStream(feed), 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      // Otherwise the server would wait for the first decision before it responds.
      "transfer-encoding": "chunked",
    }),
  );
}
