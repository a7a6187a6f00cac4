import { createSseDecoder } from "@countersign/wire/sse";
import type { FeedItem } from "../api/answers.js";
import { request } from "../api/request.js";
import type { FeedStore } from "./feed-store.js";

const RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

/** What a comment of the feed says when we did not keep up. */
const LEFT_OUT = /^: (\d{1,9}) decisions left out$/mu;

/** Follows the feed until it is told to stop; a line that tears is taken up again, ever more patiently. */
export async function followFeed(store: FeedStore, signal: AbortSignal): Promise<void> {
  let wait = RETRY_MS;
  while (!signal.aborted) {
    try {
      const response = await request("/v1/events", { signal });
      store.turn("live");
      wait = RETRY_MS;
      await readAll(response, store);
    } catch {
      // Told below: whatever it was, the line is gone.
    }
    if (signal.aborted) return;
    store.turn("lost");
    await pause(wait, signal);
    wait = Math.min(MAX_RETRY_MS, wait * 2);
  }
}

async function readAll(response: Response, store: FeedStore): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = createSseDecoder();
  const text = new TextDecoder();
  // What comes first is from before we looked, and is drawn at its own time.
  const openedAt = Date.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const left = LEFT_OUT.exec(text.decode(value, { stream: true }));
    if (left !== null) store.skip(Number(left[1]));
    const items = decoder.push(value).map(({ data }) => JSON.parse(data) as FeedItem);
    const isFirst = Date.now() - openedAt < 500;
    if (items.length > 0) store.push(items, isFirst ? undefined : Date.now());
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
