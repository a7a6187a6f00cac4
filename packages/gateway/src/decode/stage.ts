import { assertWithin, CountersignError, createJsonSequence, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createProtoDecoder } from "@countersign/wire/proto";
import type { ProtoDecoder } from "@countersign/wire/proto";
import { classifySseData, createSseDecoder } from "@countersign/wire/sse";
import type { SseDecoder } from "@countersign/wire/sse";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { createPassage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";
import type { UpstreamPiece } from "../upstream/upstream.js";
import "./errors.js";

/** Bytes and frames become JSON objects, strictly and within bounds; meaning is for later stages. */
export const decode: Stage = {
  name: "decode",
  open: (run, next) => {
    let events = 0;
    let receivedAt = run.clock.now();
    const reader = createReader(run, (value) => {
      events += 1;
      assertWithin("maxEvents", events, run.limits.maxEvents);
      const passage = createPassage(receivedAt);
      passage.value = value;
      next.push(passage);
    });
    return {
      push: (passage) => {
        if (passage.piece === undefined) return;
        receivedAt = passage.receivedAt;
        reader.push(passage.piece);
      },
      end: (end) => {
        if (end.failure === undefined) reader.end();
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

type Reader = { push(piece: UpstreamPiece): void; end(): void };

/** Emits each event as soon as it is whole, so that what came before bad bytes is still judged. */
function createReader(run: Run, emit: (value: JsonObject) => void): Reader {
  // Opened by the first piece that needs them: what is idle should be small.
  let sse: SseDecoder | undefined;
  let proto: ProtoDecoder | undefined;
  // Neighbours on a stream are alike, which makes parsing them in sequence cheaper.
  const json = createJsonSequence({ maxDepth: run.limits.maxDepth });
  const read = (text: string): void => {
    // Servers in the field close with `[DONE]` and ping with empty data or `{}`; none of them is an event.
    if (classifySseData(text) !== "event") return;
    const value = json.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new CountersignError("ERR_DECODE_NOT_OBJECT", "an event must be a JSON object", {});
    }
    emit(value);
  };
  return {
    push: (piece) => {
      if (piece.kind === "frame") {
        for (const text of decodeTextFrame(piece.text)) read(text);
      } else if (piece.kind === "sse") {
        sse ??= createSseDecoder(run.limits);
        for (const { data } of sse.push(piece.bytes)) read(data);
        if (sse.failure !== undefined) throw sse.failure;
      } else {
        proto ??= createProtoDecoder(run.limits);
        for (const value of proto.push(piece.bytes)) emit(value);
        if (proto.error !== undefined) throw proto.error;
      }
    },
    end: () => {
      proto?.end();
      for (const { data } of sse?.end() ?? []) read(data);
    },
  };
}
