import { isCountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { overLimit } from "../limits.js";
import type { NoteSink } from "../note.js";

/** JSON that a producer put into a string; undefined when it is not strict JSON. */
export function parseCarriedJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}

/** Bounds of the calls that are open at one time. */
export type CallBufferLimits = {
  maxOpenCalls: number;
  /** UTF-16 units of argument and result text over all open calls. */
  maxBufferedLength: number;
};

/** Enough for every real call, small enough for many sessions. */
export const DEFAULT_CALL_BUFFER_LIMITS: CallBufferLimits = {
  maxOpenCalls: 64,
  maxBufferedLength: 1_048_576,
};

/** Holds tool calls until their end, because 0.1.0 announces a call with all its arguments. */
export type CallBuffer = {
  open(id: string, name: string): void;
  append(id: string, delta: string): void;
  close(id: string, note: NoteSink): JsonObject[];
  /** Keeps a result behind its open call, or lets it pass. */
  hold(id: string, result: JsonObject): JsonObject[];
  /** Gives up what is still open at the end of a run. */
  drop(note: NoteSink): void;
};

type OpenCall = { name: string; text: string[]; length: number; results: JsonObject[] };

/** An empty buffer. */
export function createCallBuffer(limits: CallBufferLimits): CallBuffer {
  const calls = new Map<string, OpenCall>();
  let buffered = 0;

  function grow(call: OpenCall, length: number): void {
    if (buffered + length > limits.maxBufferedLength) {
      throw overLimit("dialects.maxBufferedLength", limits.maxBufferedLength);
    }
    buffered += length;
    call.length += length;
  }

  return {
    open(id, name) {
      if (calls.size >= limits.maxOpenCalls) {
        throw overLimit("dialects.maxOpenCalls", limits.maxOpenCalls);
      }
      calls.set(id, { name, text: [], length: 0, results: [] });
    },
    append(id, delta) {
      const call = calls.get(id);
      if (call === undefined) return;
      grow(call, delta.length);
      call.text.push(delta);
    },
    close(id, note) {
      const call = calls.get(id);
      if (call === undefined) return [];
      calls.delete(id);
      buffered -= call.length;
      const text = call.text.join("");
      const args = text === "" ? undefined : parseCarriedJson(text);
      if (text !== "" && !isJsonObject(args)) note("arguments-dropped");
      const start = {
        type: "TOOL_CALL_START",
        toolCallId: id,
        toolName: call.name,
        ...(isJsonObject(args) ? { args } : {}),
      };
      return [start, ...call.results];
    },
    hold(id, result) {
      const call = calls.get(id);
      if (call === undefined) return [result];
      grow(call, JSON.stringify(result).length);
      call.results.push(result);
      return [];
    },
    drop(note) {
      for (const _ of calls) note("open-call-dropped");
      calls.clear();
      buffered = 0;
    },
  };
}
