import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { withoutMembers } from "../json-object.js";
import type { MintId } from "../options.js";
import type { LegacyContext } from "./context.js";

/** The REASONING event of each retired THINKING event, with the id it carries. */
const THINKING: ReadonlyMap<string, { type: string; id: "span" | "message"; opens?: true }> =
  new Map([
    ["THINKING_START", { type: "REASONING_START", id: "span", opens: true }],
    ["THINKING_END", { type: "REASONING_END", id: "span" }],
    [
      "THINKING_TEXT_MESSAGE_START",
      { type: "REASONING_MESSAGE_START", id: "message", opens: true },
    ],
    ["THINKING_TEXT_MESSAGE_CONTENT", { type: "REASONING_MESSAGE_CONTENT", id: "message" }],
    ["THINKING_TEXT_MESSAGE_END", { type: "REASONING_MESSAGE_END", id: "message" }],
  ] as const);

/** Translates THINKING_* into REASONING_*, minting the ids that the older events lack. */
export function createThinkingTranslator(
  mintId: MintId,
): (event: JsonObject, context: LegacyContext) => JsonObject {
  const open = new Map<"span" | "message", string>();
  return (event, context) => {
    const type = event["type"];
    if (type === "RUN_STARTED") open.clear();
    const target = typeof type === "string" ? THINKING.get(type) : undefined;
    if (target === undefined) return event;
    if (target.opens === true) open.set(target.id, mintId("message"));
    const messageId = open.get(target.id);
    // A minted id would name something that nothing opened; the run dies either way, here with its cause.
    if (messageId === undefined) {
      throw new CountersignError(
        "ERR_DIALECT_THINKING_NOT_OPEN",
        `event ${context.eventNumber} continues thinking that was never started`,
        { event: context.eventNumber, type: String(type) },
      );
    }
    if (target.type.endsWith("_END")) open.delete(target.id);
    context.note("thinking-translated");
    if (Object.hasOwn(event, "title")) context.note("thinking-title-lost", "/title");
    return {
      ...withoutMembers(event, "title"),
      type: target.type,
      messageId,
      ...(target.type === "REASONING_MESSAGE_START" ? { role: "reasoning" } : {}),
    };
  };
}
