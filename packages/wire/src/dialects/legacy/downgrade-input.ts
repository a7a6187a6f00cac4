import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { childPath } from "../../enforce/note.js";
import type { RunAgentInput } from "../../model/input.js";
import type { NoteSink } from "../note.js";
import { downgradeRunInput } from "./downgrade-content.js";
import type { LegacyTarget } from "./downgrade.js";

/** Members to take from an object, and the lists of objects below it. */
type Strip = { drop: readonly string[]; lists?: Readonly<Record<string, Strip>> };

const PARTS: Strip = { drop: ["id"] };
const STRIPS: Readonly<Record<LegacyTarget, Strip>> = {
  "0.0.55": {
    drop: ["protocolVersion"],
    lists: {
      messages: {
        drop: ["metadata", "subagentRunId", "encryptedValueType"],
        lists: { content: PARTS, toolCalls: { drop: ["metadata", "encryptedValueType"] } },
      },
      resume: { drop: ["metadata"] },
    },
  },
  "0.0.59": {
    drop: ["protocolVersion"],
    lists: {
      messages: {
        drop: ["encryptedValueType"],
        lists: { content: PARTS, toolCalls: { drop: ["encryptedValueType"] } },
      },
    },
  },
};

/**
 * An input for an agent of an older release. Unlike older clients, older agents may forbid members
 * that their schema does not have, so these leave, each with a note.
 */
export function downgradeLegacyInput(
  input: RunAgentInput,
  target: LegacyTarget,
  note: NoteSink,
): JsonObject {
  const body = downgradeRunInput(input, "", note) as unknown as JsonObject;
  return stripObject(body, STRIPS[target], "", note);
}

function stripObject(object: JsonObject, strip: Strip, path: string, note: NoteSink): JsonObject {
  const drop = new Set(strip.drop);
  // Only media parts had metadata of their own.
  if (strip === PARTS && object["type"] === "text") drop.add("metadata");
  const kept: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    const at = childPath(path, key);
    if (drop.has(key)) {
      note("field-dropped", at);
      continue;
    }
    const below = strip.lists?.[key];
    kept.push([key, below === undefined ? value : stripList(value, below, at, note)]);
  }
  return Object.fromEntries(kept);
}

function stripList(value: JsonValue, strip: Strip, path: string, note: NoteSink): JsonValue {
  if (!Array.isArray(value)) return value;
  return value.map((element, index) =>
    isJsonObject(element) ? stripObject(element, strip, childPath(path, index), note) : element,
  );
}
