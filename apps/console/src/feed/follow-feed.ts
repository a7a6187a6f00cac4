import { createSseDecoder } from "@countersign/wire/sse";
import type { FeedItem } from "../api/responses.js";
import { request } from "../api/request.js";
import type { FeedStore } from "./feed-store.js";

const RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

/** A silent connection may be dead without an error. Reopening it costs the last 200 decisions. */
const SILENCE_MS = 30_000;

/** The feed's comment on dropped decisions. */
const LEFT_OUT = /^: (\d{1,9}) decisions left out$/mu;

/** Reads the feed until `signal` aborts; reconnects with a growing delay. */
export async function followFeed(store: FeedStore, signal: AbortSignal): Promise<void> {
  let wait = RETRY_MS;
  while (!signal.aborted) {
    try {
      const response = await request("/v1/events", { signal });
      store.setConnection("live");
      wait = RETRY_MS;
      if ((await readAll(response, store)) === "silent") continue;
    } catch {
      // Any failure is a lost connection, which is set below.
    }
    if (signal.aborted) return;
    store.setConnection("lost");
    await pause(wait, signal);
    wait = Math.min(MAX_RETRY_MS, wait * 2);
  }
}

async function readAll(response: Response, store: FeedStore): Promise<"ended" | "silent"> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "ended";
  const decoder = createSseDecoder();
  const text = new TextDecoder();
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
    if (items.length > 0) store.push(items);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/** The next chunk, or `undefined` after the time-out. */
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
