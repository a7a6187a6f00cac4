import { CountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createProtoDecoder } from "@countersign/wire/proto";
import { classifySseData, createSseDecoder } from "@countersign/wire/sse";
import { decodeTextFrame } from "@countersign/wire/websocket";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";
import "./errors.js";

/** Bytes and frames become JSON objects, strictly and within bounds; meaning is for later stages. */
export const decode: Stage = {
  name: "decode",
  open: (run, next) => {
    const read = createReader(run);
    let events = 0;
    const pass = (values: readonly JsonObject[], receivedAt: number): void => {
      for (const value of values) {
        events += 1;
        if (events > run.limits.maxEvents) {
          throw new CountersignError("ERR_LIMIT_EXCEEDED", "the stream has too many events", {
            limit: "maxEvents",
            allowed: run.limits.maxEvents,
          });
        }
        next.push({ receivedAt, value });
      }
    };
    return {
      push: ({ piece, receivedAt }) => {
        if (piece !== undefined) pass(read.push(piece), receivedAt);
      },
      end: (end) => {
        if (end.failure === undefined) pass(read.end(), run.clock.now());
        next.end(end);
      },
    };
  },
  admit: (request) => {
    request.value = parseJson(request.bytes, {
      maxBytes: request.limits.maxInputBytes,
      maxDepth: request.limits.maxDepth,
    });
  },
};

type Reader = {
  push(piece: NonNullable<Passage["piece"]>): readonly JsonObject[];
  end(): readonly JsonObject[];
};

function createReader(run: Run): Reader {
  const sse = createSseDecoder(run.limits);
  const proto = createProtoDecoder(run.limits);
  const parse = (text: string): JsonObject[] => {
    // Servers in the field close with `[DONE]` and ping with empty data or `{}`; none of them is an event.
    if (classifySseData(text) !== "event") return [];
    return [asObject(parseJson(text, { maxDepth: run.limits.maxDepth }))];
  };
  return {
    push: (piece) => {
      if (piece.kind === "sse") return sse.push(piece.bytes).flatMap(({ data }) => parse(data));
      if (piece.kind === "proto") return proto.push(piece.bytes);
      return decodeTextFrame(piece.text).flatMap(parse);
    },
    end: () => {
      proto.end();
      return sse.end().flatMap(({ data }) => parse(data));
    },
  };
}

function asObject(value: JsonValue): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CountersignError("ERR_DECODE_NOT_OBJECT", "an event must be a JSON object", {});
}
