import { ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { MintId } from "../options.js";
import type { LegacyContext } from "./context.js";
import { eventPosition } from "./positions.js";
import { createThinkingTranslator } from "./thinking.js";
import { upgradeTimestamp } from "./timestamp.js";
import { normaliseObject } from "./walk.js";

/** Translates events of 0.0.45–0.0.59; a 1.0 event comes back as the same object. */
export function createLegacyUpgrader(
  mintId: MintId,
): (event: JsonObject, context: LegacyContext) => JsonObject {
  // Made by the first event it is for: hardly any stream has one.
  let translateThinking: ReturnType<typeof createThinkingTranslator> | undefined;
  return (event, context) => {
    const type = ownMember(event, "type");
    if (typeof type !== "string") return event;
    let current = normaliseObject(event, eventPosition(type), "", context);
    if (context.lenient) {
      current = upgradeTimestamp(current, context);
      if (type === "TOOL_CALL_RESULT") current = upgradeToolContent(current, context);
    }
    if (translateThinking === undefined && !type.startsWith("THINKING_")) return current;
    translateThinking ??= createThinkingTranslator(mintId);
    return translateThinking(current, context);
  };
}

/** Servers that hand on what the tool returned: an object becomes its JSON text, null no text. */
function upgradeToolContent(event: JsonObject, context: LegacyContext): JsonObject {
  const content = ownMember(event, "content");
  if (typeof content !== "object" || Array.isArray(content)) return event;
  context.note("tool-content-serialised", "/content");
  return { ...event, content: content === null ? "" : JSON.stringify(content) };
}
