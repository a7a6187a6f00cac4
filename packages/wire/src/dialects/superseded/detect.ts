import { ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";

/**
 * Whether the first event of a stream is one that only the 0.1.0 dialect could begin with: a run
 * without a thread, one of its two own types, or a tool call under `toolName`. An event that 1.0 could
 * read as well is not a tell-tale.
 */
export function detectSuperseded(value: JsonObject): boolean {
  switch (ownMember(value, "type")) {
    case "ERROR":
    case "UI_RENDER_HINT":
      return true;
    case "RUN_STARTED":
      return !Object.hasOwn(value, "threadId") && !Object.hasOwn(value, "thread_id");
    case "TOOL_CALL_START":
      return Object.hasOwn(value, "toolName") && !Object.hasOwn(value, "toolCallName");
    default:
      return false;
  }
}
