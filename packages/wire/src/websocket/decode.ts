import { assertWithin, resolveLimits, utf8Length } from "@countersign/core";
import type { Limits } from "@countersign/core";
import { BlockReader } from "../sse/blocks.js";
import type { SseMessage } from "../sse/message.js";

/** How a server writes events into text frames: bare JSON, or SSE text inside the frame. */
export type TextFrameStyle = "json" | "sse";

// The fields of an SSE line; no JSON text can begin with one of them.
const SSE_START = /^\ufeff?(?:data|event|id|retry)?:|^\ufeff?data[\r\n]/;

/** Which of the two styles a text frame uses. */
export function textFrameStyle(text: string): TextFrameStyle {
  return text.charCodeAt(0) !== 0x7b && SSE_START.test(text) ? "sse" : "json";
}

/**
 * The JSON texts of one text frame: the frame itself, or the data of each SSE event inside it (the AWS
 * `bedrock-agentcore` SDK writes `data: {…}\n\n` into frames). A frame of SSE comments has none.
 *
 * The frame is complete by nature, so a last event without a blank line counts. Nothing is parsed
 * here; give the texts to the strict JSON parser.
 *
 * @throws CountersignError `ERR_LIMIT_EXCEEDED` when the frame is over `maxFrameBytes`
 */
export function decodeTextFrame(text: string, limits?: Partial<Limits>): string[] {
  const resolved = resolveLimits(limits);
  // No UTF-16 unit takes more than three bytes, so the common case needs no counting.
  if (text.length * 3 > resolved.maxFrameBytes) {
    assertWithin("maxFrameBytes", utf8Length(text), resolved.maxFrameBytes);
  }
  if (textFrameStyle(text) === "json") return [text];
  const reader = new BlockReader(resolved);
  const messages: SseMessage[] = [];
  const lines = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  reader.read(`${lines}\n`, 0, false, messages);
  reader.dispatch(messages);
  return messages.map((message) => message.data);
}
