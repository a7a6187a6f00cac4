import { createSseDecoder } from "@countersign/wire/sse";
import type { FeedItem } from "../api/answers.js";
import { request } from "../api/request.js";
import type { FeedStore } from "./feed-store.js";

const RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

/** A line that is silent for so long may be dead without having told: it is opened anew, which costs the last 200 decisions. */
const SILENCE_MS = 30_000;

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
      if ((await readAll(response, store)) === "silent") continue;
    } catch {
      // Told below: whatever it was, the line is gone.
    }
    if (signal.aborted) return;
    store.turn("lost");
    await pause(wait, signal);
    wait = Math.min(MAX_RETRY_MS, wait * 2);
  }
}

async function readAll(response: Response, store: FeedStore): Promise<"ended" | "silent"> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "ended";
  const decoder = createSseDecoder();
  const text = new TextDecoder();
  // What comes first is from before we looked, and is drawn at its own time.
  const openedAt = Date.now();
  for (;;) {
    const read = await readWithin(reader, SILENCE_MS);
    if (read === undefined) {
      void reader.cancel().catch(() => {});
      return "silent";
    }
    const { done, value } = read;
    if (done) return "ended";
    const left = LEFT_OUT.exec(text.decode(value, { stream: true }));
    if (left !== null) store.skip(Number(left[1]));
    const items = decoder.push(value).map(({ data }) => JSON.parse(data) as FeedItem);
    const isFirst = Date.now() - openedAt < 500;
    if (items.length > 0) store.push(items, isFirst ? undefined : Date.now());
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/** What comes next, or nothing when nothing came in time. */
async function readWithin(
  reader: Reader,
  milliseconds: number,
): Promise<Awaited<ReturnType<Reader["read"]>> | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
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
