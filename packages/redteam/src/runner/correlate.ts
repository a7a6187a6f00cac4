import type { JsonObject } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";

/** Knows the names of the tool calls of one stream. */
export type ToolCallNames = {
  /** The event with `toolCallName` added where the binding asks for it; the same object when nothing is added. */
  enrich(name: string, event: JsonObject): JsonObject;
};

const LEARNS = new Set(["tool_call_start", "tool_call_chunk"]);
const NEEDS = new Set(["tool_call_args", "tool_call_end", "tool_call_chunk"]);

/** Correlates `toolCallId` with the name that the start, or the first named chunk, gave it. */
export function createToolCallNames(): ToolCallNames {
  const names = new Map<string, string>();
  return {
    enrich(name, event) {
      const id = textMember(event, "toolCallId");
      if (id === undefined) return event;
      const given = textMember(event, "toolCallName");
      if (given !== undefined) {
        if (LEARNS.has(name)) names.set(id, given);
        return event;
      }
      const known = NEEDS.has(name) ? names.get(id) : undefined;
      return known === undefined ? event : { ...event, toolCallName: known };
    },
  };
}
