import { encodeSseComment } from "@countersign/wire/sse";
import { encodeProjected } from "./encode.js";
import type { StreamFormat } from "./encode.js";
import type { Streamed } from "./run.js";

/** Timers, so that tests control the time. */
export type Timers = {
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: never): void;
};

/** Options of {@link createProjectionResponse}. */
export type ResponseOptions = {
  readonly format?: StreamFormat;
  /**
   * Whether frames have ledger ids, for clients that reconnect with `Last-Event-ID`. Default: no.
   */
  readonly hasIds?: boolean;
  /** Milliseconds without a frame before a comment keeps the connection open. Default 15,000. */
  readonly heartbeat?: number;
  /** Called once when the reader disconnects before the end. */
  readonly onCancel?: () => void;
  readonly timers?: Timers;
};

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The stream as a web response. The reader sets the pace: nothing is projected ahead of it. */
export function createProjectionResponse(
  source: AsyncGenerator<Streamed, void, undefined>,
  options: ResponseOptions = {},
): Response {
  const body = encodeStream(source, options).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: HEADERS });
}

/** The stream as SSE text, with heartbeats. */
export function encodeStream(
  source: AsyncGenerator<Streamed, void, undefined>,
  options: ResponseOptions = {},
): ReadableStream<string> {
  const { heartbeat = 15_000, format = "ag-ui" } = options;
  const timers: Timers = options.timers ?? {
    setTimeout: (callback, milliseconds) => globalThis.setTimeout(callback, milliseconds),
    clearTimeout: (timer) => globalThis.clearTimeout(timer),
  };
  let next: Promise<IteratorResult<Streamed, void>> | undefined;
  const waitForNext = async (): Promise<IteratorResult<Streamed, void> | "silence"> => {
    next ??= source.next();
    let timer: unknown;
    const silence = new Promise<"silence">((resolve) => {
      timer = timers.setTimeout(() => resolve("silence"), heartbeat);
    });
    try {
      return await Promise.race([next, silence]);
    } finally {
      timers.clearTimeout(timer as never);
    }
  };
  return new ReadableStream<string>(
    {
      async pull(controller) {
        for (;;) {
          const result = await waitForNext();
          if (result === "silence") {
            controller.enqueue(encodeSseComment("keepalive"));
            return;
          }
          next = undefined;
          if (result.done === true) {
            controller.close();
            return;
          }
          const { projected, cursor } = result.value;
          const text = encodeProjected(
            projected,
            format,
            options.hasIds === true ? cursor : undefined,
          );
          if (text !== "") {
            controller.enqueue(text);
            return;
          }
        }
      },
      async cancel() {
        options.onCancel?.();
        // A generator that waits for a row returns only after that row: do not wait for it.
        source.return().catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
}
