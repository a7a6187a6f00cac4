import { diagnose } from "../base/diagnostic.js";
import type { Disclosure } from "../safe/disclosure.js";
import type { FrameSource, OpenRun, RunStream } from "./run-stream.js";

/** Characters of one delta: a client rejects an SSE frame of 10 MiB. */
const MAX_DELTA = 64 * 1024;

/** Model text before the response is recorded. */
export type LiveText = {
  readonly runId: number;
  readonly turnIndex: number;
  readonly delta: string;
};

/** Shows a recorded message, or the rest of one that was shown live. */
export function emitMessage(
  stream: RunStream,
  { run }: OpenRun,
  place: FrameSource,
  turnIndex: number,
  text: string,
): void {
  const turn = run.turn(turnIndex);
  const { live } = run;
  let messageId = run.messageId(turnIndex, turn.messages++);
  let rest = text;
  if (live?.messageId === messageId) {
    run.live = undefined;
    if (text.startsWith(live.shown)) {
      rest = text.slice(live.shown.length);
      turn.lastMessageId = messageId;
      if (rest !== "") emitText(stream, place, messageId, rest);
      stream.emit(place, { type: "TEXT_MESSAGE_END", messageId });
      return;
    }
    // The record is authoritative, and shown text cannot be withdrawn: the client sees both.
    stream.emit(place, { type: "TEXT_MESSAGE_END", messageId });
    const message = "the recorded text is not what was shown live";
    stream.report(diagnose("ERR_PROJECTION_LIVE_TEXT", message, place, { reason: "differs" }));
    messageId += ":recorded";
  }
  turn.lastMessageId = messageId;
  stream.emit(place, { type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
  emitText(stream, place, messageId, rest);
  stream.emit(place, { type: "TEXT_MESSAGE_END", messageId });
}

/** Shows that there was reasoning, and the text that the runtime provides for display. */
export function emitReasoning(
  stream: RunStream,
  { run }: OpenRun,
  place: FrameSource,
  turnIndex: number,
  text: string,
): void {
  const messageId = run.reasoningId(turnIndex, run.turn(turnIndex).reasonings++);
  stream.emit(place, { type: "REASONING_START", messageId });
  stream.emit(place, { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
  for (const delta of pieces(text)) {
    stream.emit(place, { type: "REASONING_MESSAGE_CONTENT", messageId, delta });
  }
  stream.emit(place, { type: "REASONING_MESSAGE_END", messageId });
  stream.emit(place, { type: "REASONING_END", messageId });
}

/** Shows text that is not recorded yet. */
export function emitLiveText(stream: RunStream, live: LiveText, disclosure: Disclosure): void {
  const place: FrameSource = { id: 0, kind: "live", factOwnerRef: "", timestamp: undefined };
  const { open } = stream;
  if (open?.run.id !== live.runId) {
    const message = "live text for a run that is not open";
    stream.report(diagnose("ERR_PROJECTION_LIVE_TEXT", message, undefined, { reason: "no-run" }));
    return;
  }
  const { run } = open;
  if (run.live !== undefined && run.live.turnIndex !== live.turnIndex) stream.closeLive(place);
  if (run.live === undefined) {
    const turn = run.turn(live.turnIndex);
    const messageId = run.messageId(live.turnIndex, turn.messages);
    run.live = {
      turnIndex: live.turnIndex,
      messageId,
      scrubber: disclosure.createScrubber(),
      shown: "",
      half: "",
    };
    stream.emit(place, { type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
  }
  const message = run.live;
  let text = message.half + message.scrubber.push(live.delta);
  const isCut = /[\uD800-\uDBFF]$/.test(text);
  message.half = isCut ? text.slice(-1) : "";
  text = (isCut ? text.slice(0, -1) : text).replaceAll(/\p{Surrogate}/gu, "\uFFFD");
  message.shown += text;
  if (text !== "") emitText(stream, place, message.messageId, text);
}

function emitText(stream: RunStream, place: FrameSource, messageId: string, text: string): void {
  for (const delta of pieces(text)) {
    stream.emit(place, { type: "TEXT_MESSAGE_CONTENT", messageId, delta });
  }
}

/** Splits long text, never inside a surrogate pair; empty text is one empty piece. */
function* pieces(text: string): Iterable<string> {
  let position = 0;
  do {
    let end = Math.min(position + MAX_DELTA, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
    yield text.slice(position, end);
    position = end;
  } while (position < text.length);
}
