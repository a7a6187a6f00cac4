import { CountersignError, resolveLimits } from "@countersign/core";
import type { Limits } from "@countersign/core";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { AgUiEvent } from "../model/event.js";
import { HEADER_BYTES } from "./frame-buffer.js";
import type { ProtoNoteSink } from "./note.js";
import type { EventPlan } from "./plan.js";
import { envelopePlan } from "./plan.js";
import { toWire } from "./to-wire.js";
import { writeMessage } from "./write-message.js";
import type { WireObject } from "./write-message.js";
import type { WriteState } from "./write-state.js";
import { unencodable } from "./write-state.js";

/** What the encoder can be told besides the event. */
export type ProtoEncodeOptions = {
  /** Called for what protobuf cannot carry and the frame leaves out. */
  readonly onNote?: ProtoNoteSink;
  readonly limits?: Partial<Limits>;
};

const EMPTY_HEADER = new Uint8Array(HEADER_BYTES);
const BASE_EVENT_TAG = 10;
const BASE_MEMBERS: ReadonlySet<string> = new Set(["type", "timestamp", "rawEvent", "metadata"]);

/**
 * Writes one event as a frame, header included: the bytes of `@ag-ui/encoder` 1.0.0 for every valid
 * event. What protobuf has no place for is left out with a note; what it would corrupt is refused.
 */
export function encodeProto(event: AgUiEvent, options: ProtoEncodeOptions = {}): Uint8Array {
  const { maxFrameBytes, maxDepth } = resolveLimits(options.limits);
  const plan = envelopePlan().byType.get(event.type);
  if (plan === undefined) throw unencodable("type", "the protocol has no such event");
  const writer = new BinaryWriter();
  writer.raw(EMPTY_HEADER).uint32(plan.field.tag).fork();
  const state: WriteState = { writer, maxDepth, onNote: options.onNote };
  writeEvent(state, plan, event as unknown as WireObject);
  const frame = writer.join().finish();
  if (frame.length > maxFrameBytes) {
    throw new CountersignError("ERR_LIMIT_EXCEEDED", "a protobuf frame goes over maxFrameBytes", {
      limit: "maxFrameBytes",
      allowed: maxFrameBytes,
    });
  }
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, frame.length - HEADER_BYTES);
  return frame;
}

function writeEvent(state: WriteState, plan: EventPlan, event: WireObject): void {
  const { type, field } = plan;
  const base = field.message.byNumber[1];
  if (base === undefined) throw new Error("an event message without a base event");
  state.writer.uint32(BASE_EVENT_TAG).fork();
  // `type` is the enum's first field, so the base event is an ordinary message of these four.
  const { timestamp, rawEvent, metadata } = event;
  writeMessage(state, base.message, { type, timestamp, rawEvent, metadata }, 1, type);
  state.writer.join();
  writeMessage(state, field.message, toWire(type, event), 1, type, BASE_MEMBERS);
}
