import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createSseDecoder } from "@countersign/wire/sse";

/** One frame as it arrived. */
export type ReadFrame = { readonly id: string | undefined; readonly data: string };

/** Options of {@link readStream}. */
export type ReadOptions = {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Disconnects as soon as this many frames have come. */
  readonly dropAfter?: number;
};

/** A connection that reads a stream, and can be cut. */
export type StreamReader = {
  readonly status: number;
  readonly frames: ReadFrame[];
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>;
  tear(): void;
  /** True when the response ended normally. */
  isWhole(): boolean;
  /** Stops reading. */
  pause(): void;
  resume(): void;
};

/** Opens a stream on its own connection. */
export function readStream(url: string, options: ReadOptions = {}): Promise<StreamReader> {
  const { method = "POST", headers = {}, body, dropAfter = Number.POSITIVE_INFINITY } = options;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (answer: IncomingMessage) => {
      const frames: ReadFrame[] = [];
      const decoder = createSseDecoder();
      answer.on("error", () => undefined);
      answer.on("data", (bytes: Buffer) => {
        for (const { data, id } of decoder.push(bytes)) {
          if (frames.length < dropAfter) frames.push({ id, data });
        }
        if (frames.length >= dropAfter) asked.destroy();
      });
      const closed = new Promise<void>((over) => {
        answer.once("close", () => over());
      });
      resolve({
        status: answer.statusCode ?? 0,
        frames,
        closed,
        tear: () => void asked.destroy(),
        isWhole: () => answer.complete,
        pause: () => void answer.pause(),
        resume: () => void answer.resume(),
      });
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
