import { assertWithin, CountersignError, createJsonSequence } from "@countersign/core";
import type { JsonObject, JsonSequence, JsonValue } from "@countersign/core";
import { createProtoDecoder } from "@countersign/wire/proto";
import type { ProtoDecoder } from "@countersign/wire/proto";
import { classifySseData, createSseDecoder } from "@countersign/wire/sse";
import type { SseDecoder } from "@countersign/wire/sse";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { createEventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step, StreamEnd } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { runLimitReached } from "../../event/run-limits.js";
import { isContinued, isPlainDelta } from "./continued-delta.js";
import type { PlainDelta } from "./continued-delta.js";
import "../../base/errors.js";

/** A member of a protobuf struct takes an entry, a value and the content of the value. */
const OBJECTS_PER_VALUE = 3;

/** Parses bytes and frames into JSON objects, strictly and within limits. Later stages interpret them. */
export const decode: Stage = {
  name: "decode",
  open: (run, next) => new DecodeStep(run, next),
};

/** Forwards each event as soon as it is complete, so that events before malformed bytes are still judged. */
class DecodeStep extends PassingStep {
  readonly #run: Run;
  // Created by the first piece that needs it, so that an idle stream stays small.
  #sse: SseDecoder | undefined;
  #proto: ProtoDecoder | undefined;
  // Consecutive events are similar, which makes parsing them in sequence cheaper.
  #json: JsonSequence | undefined;
  #events = 0;
  #receivedAt = 0;
  /** The event before, if it was a plain delta, and its value. */
  #before: EventContext | undefined;
  #delta: PlainDelta | undefined;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
  }

  push(context: EventContext): void {
    const { piece, receivedAt } = context;
    if (piece === undefined) return this.next.push(context);
    this.#receivedAt = receivedAt;
    const { limits } = this.#run;
    if (piece.kind === "frame") {
      const texts = piece.isEvent === true ? [piece.text] : decodeTextFrame(piece.text);
      for (const text of texts) this.#read(text);
    } else if (piece.kind === "sse") {
      this.#sse ??= createSseDecoder(limits);
      for (const { data } of this.#sse.push(piece.bytes)) this.#read(data);
      if (this.#sse.failure !== undefined) throw this.#sse.failure;
    } else {
      const maxObjects = OBJECTS_PER_VALUE * limits.maxEventValues;
      this.#proto ??= createProtoDecoder(limits, { maxObjects });
      for (const value of this.#proto.push(piece.bytes)) {
        assertWithin("maxEventValues", countValues(value), limits.maxEventValues);
        this.#emit(value);
      }
      if (this.#proto.error !== undefined) throw this.#proto.error;
    }
  }

  override end(end: StreamEnd): void {
    if (end.failure === undefined) {
      this.#proto?.end();
      for (const { data } of this.#sse?.end() ?? []) this.#read(data);
    }
    this.next.end(end);
  }

  #read(text: string): void {
    // Servers end a stream with `[DONE]` and ping with empty data or `{}`; none of them is an event.
    if (classifySseData(text) !== "event") return;
    const { maxDepth, maxEventValues: maxValues } = this.#run.limits;
    this.#json ??= createJsonSequence({ maxDepth, maxValues });
    const value = this.#json.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new CountersignError("ERR_DECODE_NOT_OBJECT", "an event must be a JSON object", {});
    }
    this.#emit(value);
  }

  #emit(value: JsonObject): void {
    this.#events += 1;
    const { runEvents } = this.#run.runLimits;
    if (this.#events > runEvents) throw runLimitReached("ERR_RUN_EVENTS", runEvents);
    const context = createEventContext(this.#receivedAt);
    const before = this.#before;
    const delta = isPlainDelta(value) ? value : undefined;
    if (before !== undefined && delta !== undefined && isContinued(before, this.#delta, delta)) {
      context.event = delta;
      context.facts = before.facts;
      context.clientVersion = before.clientVersion;
      context.isContinued = true;
    } else context.value = value;
    this.#before = delta && context;
    this.#delta = delta;
    this.next.push(context);
  }
}

function countValues(value: JsonValue): number {
  if (value === null || typeof value !== "object") return 1;
  let values = 1;
  for (const part of Object.values(value)) values += countValues(part);
  return values;
}
