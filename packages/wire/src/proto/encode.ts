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

/** Options of the encoder. */
export type ProtoEncodeOptions = {
  /** Called for what protobuf cannot carry and the frame leaves out. */
  readonly onNote?: ProtoNoteSink;
  readonly limits?: Partial<Limits>;
};

const EMPTY_HEADER = new Uint8Array(HEADER_BYTES);
/**
 * A writer whose buffer can be used again: allocating one for each event took more than half of the
 * time. It is taken out while in use, because a note's receiver may encode another event, and is lost
 * when an event is refused halfway.
 */
let spareWriter: BinaryWriter | undefined;
/** One large event must not pin its buffer. */
const KEPT_CAPACITY = 65_536;
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
  const writer = spareWriter ?? new BinaryWriter();
  spareWriter = undefined;
  writer.raw(EMPTY_HEADER).uint32(plan.field.tag).fork();
  const state: WriteState = { writer, maxDepth, onNote: options.onNote, path: [event.type] };
  writeEvent(state, plan, event as unknown as WireObject);
  const frame = writer.join().finish();
  if (frame.length <= KEPT_CAPACITY) spareWriter = writer;
  if (frame.length > maxFrameBytes) {
    throw new CountersignError("ERR_LIMIT_EXCEEDED", "a protobuf frame goes over maxFrameBytes", {
      limit: "maxFrameBytes",
      allowed: maxFrameBytes,
    });
  }
  const length = frame.length - HEADER_BYTES;
  for (let at = 0; at < HEADER_BYTES; at += 1) frame[at] = length >>> (24 - 8 * at);
  return frame;
}

function writeEvent(state: WriteState, plan: EventPlan, event: WireObject): void {
  const { type, field } = plan;
  const base = field.message.byNumber[1];
  if (base === undefined) throw new Error("an event message without a base event");
  state.writer.uint32(BASE_EVENT_TAG).fork();
  // `type` is the enum's first field, so the base event is an ordinary message of these four.
  const { timestamp, rawEvent, metadata } = event;
  writeMessage(state, base.message, { type, timestamp, rawEvent, metadata }, 1);
  state.writer.join();
  writeMessage(state, field.message, toWire(type, event), 1, BASE_MEMBERS);
}
