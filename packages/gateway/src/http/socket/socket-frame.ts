import { CountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue, Limits } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import "../../base/errors.js";
import { tokenIn } from "./socket-greeting.js";
import type { SocketMessage } from "./socket-greeting.js";

/** The meaning of one client frame. */
export type SocketFrame =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "stop" }
  | { readonly kind: "resume"; readonly id: string; readonly isViewer: boolean }
  | { readonly kind: "input" | "message"; readonly text: string };

/** Parses a frame only as far as needed to know its kind. */
export function readFrame({ data, isBinary }: SocketMessage, limits: Limits): SocketFrame {
  if (isBinary) throw frameError("only text frames are read", "binary");
  const [text = "", ...more] = decodeTextFrame(data.toString());
  if (more.length > 0) throw frameError("a frame says one thing", "several");
  const { maxDepth, maxInputValues: maxValues } = limits;
  const value = parseJson(text, { maxDepth, maxValues });
  const token = tokenIn(value);
  if (token !== undefined) return { kind: "token", token };
  if (isStop(value)) return { kind: "stop" };
  const resume = resumeIn(value);
  if (resume !== undefined) return resume;
  return { kind: looksLikeMessage(value) ? "message" : "input", text };
}

/** The error for a frame that violates the WebSocket protocol or ours. */
export function frameError(message: string, cause: string): CountersignError {
  return new CountersignError("ERR_SOCKET_FRAME", message, { cause });
}

/** A stop is `{"type":"STOP"}`, in any case, as the first protocol document requires. */
function isStop(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { type } = value as { type?: JsonValue };
  return typeof type === "string" && type.toUpperCase() === "STOP";
}

/** A request to resume a stream is `{"type":"RESUME","id":POSITION}`, with `"view":true` for a viewer. */
function resumeIn(value: JsonValue): (SocketFrame & { readonly kind: "resume" }) | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, id, view } = value as { type?: JsonValue; id?: JsonValue; view?: JsonValue };
  if (type !== "RESUME") return undefined;
  if (typeof id !== "string") throw frameError("a resume request has an id", "resume");
  return { kind: "resume", id, isViewer: view === true };
}

/** Part of an envelope has a type; an input has a thread or messages. */
function looksLikeMessage(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return (
    ["event_type", "payload", "classification", "event_id"].some(has) &&
    !["type", "messages", "threadId", "thread_id", "message"].some(has)
  );
}
