import type { JsonValue } from "@countersign/core";
import { parseJson, writeJson } from "@countersign/core";
import type { EventLine } from "../recording/line.js";
import { textOf } from "../recording/line.js";

/** Puts the ids of a request in the place of those of the first recorded run. */
export function createIdEcho(body: string): (line: EventLine) => string {
  const asked = idsOf(parse(body));
  let recorded: { threadId?: string; runId?: string } | undefined;
  return (line) => {
    const { event } = line;
    if (typeof event !== "object" || event === null || Array.isArray(event)) return textOf(line);
    if (event["type"] !== "RUN_STARTED" && event["type"] !== "RUN_FINISHED") return textOf(line);
    recorded ??= idsOf(event);
    const changed = { ...event };
    for (const name of ["threadId", "runId"] as const) {
      const own = asked[name];
      if (own !== undefined && changed[name] === recorded[name]) changed[name] = own;
    }
    return writeJson(changed);
  };
}

function idsOf(value: JsonValue | undefined): { threadId?: string; runId?: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const { threadId, runId } = value;
  return {
    ...(typeof threadId === "string" ? { threadId } : {}),
    ...(typeof runId === "string" ? { runId } : {}),
  };
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
