import { CountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue, Limits } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import "../errors.js";
import { tokenIn } from "./socket-greeting.js";
import type { SocketMessage } from "./socket-greeting.js";

/** What a client says with one frame. */
export type SocketFrame =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "stop" }
  | { readonly kind: "input" | "message"; readonly text: string };

/** Reads a frame, only as far as it takes to know what it asks for. */
export function readFrame({ data, isBinary }: SocketMessage, limits: Limits): SocketFrame {
  if (isBinary) throw frameError("only text frames are read", "binary");
  const [text = "", ...more] = decodeTextFrame(data.toString());
  if (more.length > 0) throw frameError("a frame says one thing", "several");
  const { maxDepth, maxInputValues: maxValues } = limits;
  const value = parseJson(text, { maxDepth, maxValues });
  const token = tokenIn(value);
  if (token !== undefined) return { kind: "token", token };
  if (isStop(value)) return { kind: "stop" };
  return { kind: looksLikeMessage(value) ? "message" : "input", text };
}

/** The refusal of a frame that is not what the protocol of sockets, or ours, has in it. */
export function frameError(message: string, cause: string): CountersignError {
  return new CountersignError("ERR_SOCKET_FRAME", message, { cause });
}

/** A stop is `{"type":"STOP"}`, in any case: the button that the first protocol document asked for. */
function isStop(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { type } = value as { type?: JsonValue };
  return typeof type === "string" && type.toUpperCase() === "STOP";
}

/** Part of an envelope, which names what it does; an input names a thread or has messages. */
function looksLikeMessage(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return (
    ["event_type", "payload", "classification", "event_id"].some(has) &&
    !["type", "messages", "threadId", "thread_id", "message"].some(has)
  );
}
