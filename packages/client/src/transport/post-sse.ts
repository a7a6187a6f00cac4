import { CountersignError } from "@countersign/core";
import type { Limits } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { classifySseData, createSseDecoder } from "@countersign/wire/sse";
import "../base/errors.js";
import { connectError } from "./connect-error.js";
import { readRefusal } from "./refusal.js";
import type { Batch, Frame, Transport, TransportRequest } from "./transport.js";
import type { SseMessage } from "@countersign/wire/sse";

/** The frames in messages, without the fillers that servers keep streams alive with. */
export function framesOf(messages: readonly SseMessage[]): Frame[] {
  const frames: Frame[] = [];
  for (const { data, id, retry } of messages) {
    if (classifySseData(data) !== "event") continue;
    const frame: { json: string; id?: string; retry?: number } = { json: data };
    if (id !== undefined) frame.id = id;
    if (retry !== undefined) frame.retry = retry;
    frames.push(frame);
  }
  return frames;
}

/** Headers, or a function that returns them for each request, so that tokens can be fresh. */
export type HeaderSource = Record<string, string> | (() => Record<string, string>);

/** Options of {@link postSse}. */
export type PostSseOptions = {
  readonly url: string;
  readonly headers?: HeaderSource;
  /** Cookies towards another origin are sent with `include` only. */
  readonly credentials?: RequestCredentials;
  /** Asks a gateway for the receipt of each event, to be verified by the store's `verifyReceipt`. */
  readonly receipts?: boolean;
  /** The address that receives a stop as `{threadId, runId}`; a gateway has `/ag-ui/stop`. */
  readonly stopUrl?: string;
  /**
   * The request that resumes a broken stream when the server gave ids: the same POST, or a GET of
   * another address, with `Last-Event-ID`. Off by default: a server that ignores the header would
   * run the agent a second time.
   */
  readonly resume?: "post" | { readonly url: (input: RunAgentInput) => string };
  readonly limits?: Partial<Limits>;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
};

/** Statuses by which a server says that the run did not start. */
const NOT_STARTED = new Set([408, 425, 429, 503]);

/** The standard AG-UI transport: one POST, whose response is one event stream. */
export function postSse(options: PostSseOptions): Transport {
  const send = options.fetch ?? ((...parameters) => globalThis.fetch(...parameters));
  const { resume, stopUrl } = options;

  function requestOf({
    input,
    body,
    lastEventId,
    signal,
  }: TransportRequest): [string, RequestInit] {
    const isGet = lastEventId !== undefined && typeof resume === "object";
    const init: RequestInit = {
      method: isGet ? "GET" : "POST",
      headers: {
        ...headersOf(options.headers),
        accept: "text/event-stream",
        ...(options.receipts === true ? { "countersign-receipts": "1" } : {}),
        ...(isGet ? {} : { "content-type": "application/json" }),
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
      cache: "no-store",
      signal,
      ...(isGet ? {} : { body: JSON.stringify(body) }),
      ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    };
    return [isGet ? resume.url(input) : options.url, init];
  }

  return {
    name: "post-sse",
    resumable: resume !== undefined,
    shared: false,
    open: async function* (request) {
      let response: Response;
      try {
        response = await send(...requestOf(request));
      } catch {
        if (request.signal.aborted) return;
        // The browser does not say whether the request reached the server.
        throw connectError("the agent could not be reached", {
          transport: "post-sse",
          notStarted: false,
        });
      }
      await assertStream(response);
      yield [];
      yield* readSse(response, options.limits);
    },
    ...(stopUrl === undefined
      ? {}
      : {
          stop: async ({ threadId, runId }) => {
            await send(stopUrl, {
              method: "POST",
              headers: { ...headersOf(options.headers), "content-type": "application/json" },
              body: JSON.stringify({ threadId, runId }),
              ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
            });
          },
        }),
  };
}

function headersOf(source: HeaderSource = {}): Record<string, string> {
  return typeof source === "function" ? source() : source;
}

async function assertStream(response: Response): Promise<void> {
  const contentType = response.headers.get("content-type") ?? "";
  if (response.status !== 200) {
    const { status } = response;
    const refusal = await readRefusal(response);
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    throw connectError(`the agent answered with status ${status}`, {
      transport: "post-sse",
      status,
      notStarted: NOT_STARTED.has(status),
      ...(seconds >= 0 && seconds <= 3600 ? { retryAfter: seconds * 1000 } : {}),
      ...(refusal === undefined ? {} : { refusal }),
    });
  }
  // The official client reads any 200 as a stream and so takes an error page for a run without events.
  if (!/^text\/event-stream\s*(?:;|$)/i.test(contentType)) {
    void response.body?.cancel();
    throw new CountersignError("ERR_CLIENT_NOT_A_STREAM", "the response is not an event stream", {
      contentType: contentType.slice(0, 100),
    });
  }
}

async function* readSse(
  response: Response,
  limits: Partial<Limits> | undefined,
): AsyncIterable<Batch> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = createSseDecoder({ ...limits, unterminated: "drop" });
  try {
    for (;;) {
      let read: ReadableStreamReadResult<Uint8Array>;
      try {
        read = await reader.read();
      } catch {
        // Broken, or aborted by us: the stream ends here, and the reader sees how far it got.
        return;
      }
      const messages = read.done ? decoder.end() : decoder.push(read.value);
      yield framesOf(messages);
      if (decoder.failure !== undefined) throw decoder.failure;
      if (read.done) return;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
