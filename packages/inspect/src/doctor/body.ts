import type { Transform } from "node:stream";
import { Readable } from "node:stream";
import { createBrotliDecompress, createInflate, createGunzip, constants } from "node:zlib";
import { isCountersignError } from "@countersign/core";
import { createProtoDecoder, PROTO_MEDIA_TYPE } from "@countersign/wire/proto";
import { explainError } from "../check/explain.js";
import type { Findings } from "../check/findings.js";
import type { StreamCheck } from "../check/stream-check.js";
import { createSseWatch } from "../framing/sse-watch.js";

/** Takes the bytes of a body and hands events to the check. */
export type BodyReader = {
  readonly encoding: "sse" | "proto";
  push(chunk: Uint8Array): void;
  end(cut: boolean): void;
};

/** The media type of a content type, without parameters. */
export function mediaType(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

/** Reads `text/event-stream`. */
export function sseReader(findings: Findings, check: StreamCheck, get: boolean): BodyReader {
  const watch = createSseWatch({ findings, check, get });
  return { encoding: "sse", push: (chunk) => watch.push(chunk), end: (cut) => watch.end(cut) };
}

/** Reads a protobuf stream; after a bad frame the rest cannot be found again. */
export function protoReader(findings: Findings, check: StreamCheck): BodyReader {
  const decoder = createProtoDecoder(undefined, {
    onNote: () => findings.report("proto/unknown-field"),
  });
  let taken = 0;
  let seen = 0;
  const fail = (error: unknown): void => {
    if (!isCountersignError(error)) throw error;
    check.skip(explainError(error).rule, 0, true);
  };
  const guard = (step: () => void): void => {
    try {
      step();
      if (decoder.error !== undefined) fail(decoder.error);
    } catch (error) {
      fail(error);
    }
  };
  return {
    encoding: "proto",
    push(chunk) {
      if (decoder.error !== undefined) return;
      taken += chunk.length;
      guard(() => {
        const events = decoder.push(chunk);
        // The size of one frame among several is not told; their mean is.
        const bytes =
          events.length === 0 ? 0 : Math.max(0, Math.round((taken - seen) / events.length) - 4);
        if (events.length > 0) seen = taken;
        for (const event of events) check.value(event, bytes);
      });
    },
    end(cut) {
      if (!cut && decoder.error === undefined) guard(() => decoder.end());
    },
  };
}

/** Whether a content type is that of a protobuf stream, with parameters or without. */
export function isProto(contentType: string): boolean {
  return mediaType(contentType) === PROTO_MEDIA_TYPE;
}

/** Decodes a content encoding; `undefined` for an unknown one. */
export function decompress(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncIterable<Uint8Array> | undefined {
  const flush = { finishFlush: constants.Z_SYNC_FLUSH, flush: constants.Z_SYNC_FLUSH };
  const makers: Readonly<Record<string, () => Transform>> = {
    gzip: () => createGunzip(flush),
    "x-gzip": () => createGunzip(flush),
    deflate: () => createInflate(flush),
    br: () => createBrotliDecompress(),
  };
  const make = Object.hasOwn(makers, encoding) ? makers[encoding] : undefined;
  if (make === undefined) return undefined;
  const source = Readable.from(body);
  const target = make();
  source.on("error", (error) => target.destroy(error));
  // Without a listener, an error after the reader has stopped would end the process.
  target.on("error", () => {});
  return source.pipe(target) as AsyncIterable<Uint8Array>;
}
