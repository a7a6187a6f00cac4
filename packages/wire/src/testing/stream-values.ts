import type { JsonObject, JsonValue } from "@countersign/core";
import type { Message } from "../model/message.js";
import type { JsonPatch, JsonPatchOperation } from "../model/event.js";
import type { Random } from "./random.js";

const KEYS = ["a", "b", "list", "deep/er", "til~de", ""] as const;

/** A small JSON value. */
export function randomValue(random: Random, depth = 2): JsonValue {
  switch (random.below(depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return random.below(5);
    case 2:
      return random.pick(["", "text", "é\u{1f600}"]);
    case 3:
      return random.chance(0.5);
    case 4:
      return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
    default:
      return randomObject(random, depth);
  }
}

/** A small JSON object. */
export function randomObject(random: Random, depth = 2): JsonObject {
  const value: JsonObject = {};
  for (let count = random.below(4); count > 0; count--) {
    value[random.pick(KEYS)] = randomValue(random, depth - 1);
  }
  return value;
}

/** A pointer into the document: an existing place, a new key, or (rarely) nowhere. */
function randomPointer(random: Random, document: JsonValue | undefined): string {
  let pointer = "";
  let value = document;
  for (let depth = random.below(4); depth > 0; depth--) {
    if (typeof value !== "object" || value === null) {
      if (value !== undefined || random.chance(0.7)) break;
      return `${pointer}/nowhere`;
    }
    const token = Array.isArray(value)
      ? random.pick(["0", "1", "2", "-"])
      : random.pick([...Object.keys(value), random.pick(KEYS)]);
    pointer += `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    value = (value as JsonObject)[token];
  }
  return pointer;
}

/** An RFC 6902 patch for the document, most of them applicable. */
export function randomPatch(random: Random, document: JsonValue | undefined): JsonPatch {
  return Array.from({ length: random.below(4) }, () => randomOperation(random, document));
}

function randomOperation(random: Random, document: JsonValue | undefined): JsonPatchOperation {
  const path = randomPointer(random, document);
  const op = random.weighted({ add: 6, replace: 3, remove: 2, test: 1, copy: 1, move: 1 });
  if (op === "remove") return { op, path };
  if (op === "copy" || op === "move") return { op, path, from: randomPointer(random, document) };
  const value = path === "" && random.chance(0.9) ? randomObject(random) : randomValue(random);
  return { op, path, value };
}

/** A message of any role, with ids from the given pools. */
export function randomMessage(
  random: Random,
  id: string,
  callIds: readonly string[],
  tags: readonly string[],
): Message {
  const owner = random.chance(0.2) ? { subagentRunId: random.pick(tags) } : {};
  switch (random.below(6)) {
    case 0:
      return {
        id,
        role: "user",
        content: random.chance(0.5) ? "ask" : [{ type: "text", text: "x" }],
      };
    case 1:
      return { id, role: "tool", toolCallId: random.pick(callIds), content: "answer", ...owner };
    case 2:
      return {
        id,
        role: "activity",
        activityType: "plan",
        content: randomObject(random),
        ...owner,
      };
    case 3:
      return { id, role: "reasoning", content: "thought", ...owner };
    default:
      return randomAssistant(random, id, callIds, owner);
  }
}

function randomAssistant(
  random: Random,
  id: string,
  callIds: readonly string[],
  owner: { subagentRunId?: string },
): Message {
  const toolCalls = callIds
    .filter(() => random.chance(0.15))
    .map((call) => ({
      id: call,
      type: "function" as const,
      function: { name: "lookup", arguments: "{}" },
    }));
  return {
    id,
    role: "assistant",
    ...(random.chance(0.7) && { content: "said" }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...owner,
  };
}
