import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { enforceEvent } from "@countersign/wire/enforce";
import type { GrantableFrame, OwnerProjector } from "../owners/owner.js";
import type { Disclosure } from "../safe/disclosure.js";
import type { SafeLedgerEvent } from "../safe/event.js";
import { isRecord, safeValueFromUnknown } from "../safe/value.js";
import { isOwnName } from "./names.js";
import type { FrameSource, RunStream } from "./run-stream.js";

/** The members an owner may set; raw events, tags and foreign metadata are not among them. */
const FIELDS: { readonly [Type in GrantableFrame]: readonly string[] } = {
  CUSTOM: ["name", "value"],
  ACTIVITY_SNAPSHOT: ["messageId", "activityType", "content", "replace"],
  ACTIVITY_DELTA: ["messageId", "activityType", "patch"],
};

const MAX_FRAMES = 64;

/** Emits the frames of an application owner; each is checked and refused separately. */
export function emitOwnerFrames(
  stream: RunStream,
  place: FrameSource,
  owner: OwnerProjector,
  safe: SafeLedgerEvent,
  disclosure: Disclosure,
): void {
  if (owner.projectFrames === undefined) {
    const value = { id: safe.id, kind: safe.kind, safePayload: safe.safePayload ?? null };
    const frame = { type: "CUSTOM", name: safe.kind, value };
    emitOwnerFrame(stream, place, owner, frame, disclosure);
    return;
  }
  let frames: readonly unknown[];
  try {
    frames = owner.projectFrames(safe, { threadId: stream.threadId });
  } catch {
    const message = "the owner's projector failed";
    stream.diagnose("ERR_PROJECTION_PROJECTOR_FAILED", message, place);
    return;
  }
  if (!Array.isArray(frames) || frames.length > MAX_FRAMES) {
    refuse(stream, place, "not a list of frames within the limit");
    return;
  }
  for (const frame of frames) emitOwnerFrame(stream, place, owner, frame, disclosure);
}

function emitOwnerFrame(
  stream: RunStream,
  place: FrameSource,
  owner: OwnerProjector,
  frame: unknown,
  disclosure: Disclosure,
): void {
  const safe = safeValueFromUnknown(frame);
  const copied = safe === undefined ? undefined : disclosure.scrubbed(safe);
  const type = isRecord(copied) ? copied["type"] : undefined;
  if (!isRecord(copied) || typeof type !== "string" || !Object.hasOwn(FIELDS, type)) {
    refuse(stream, place, "a frame of a type that no owner may make");
    return;
  }
  const granted = type as GrantableFrame;
  if (!(owner.frameTypes ?? ["CUSTOM"]).includes(granted)) {
    refuse(stream, place, "a frame of a type that this owner was not granted");
    return;
  }
  const event = readFrame(granted, copied as JsonObject);
  if (event === undefined) refuse(stream, place, "a malformed frame");
  else if (event.type === "CUSTOM" && !isOwnName(event.name)) {
    const message = "the name of a CUSTOM frame is reserved";
    stream.diagnose("ERR_PROJECTION_RESERVED_NAME", message, place);
  } else if ("messageId" in event && !event.messageId?.startsWith(`${owner.factOwnerRef}:`)) {
    refuse(stream, place, "an id outside the owner's own");
  } else stream.attach(place, event);
}

function readFrame(type: GrantableFrame, source: JsonObject): AgUiEvent | undefined {
  const frame: JsonObject = { type };
  for (const name of FIELDS[type]) {
    if (Object.hasOwn(source, name)) frame[name] = source[name] as JsonValue;
  }
  try {
    return enforceEvent(frame).event;
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}

function refuse(stream: RunStream, place: FrameSource, reason: string): void {
  const message = `an owner's frame was refused: ${reason}`;
  stream.diagnose("ERR_PROJECTION_FRAME_REFUSED", message, place, reason);
}
