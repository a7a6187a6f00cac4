import type { JsonObject } from "@countersign/core";
import type { Disclosed } from "../../safe/disclosure.js";
import { isRecord } from "../../safe/value.js";
import { compact } from "../payload-reader.js";
import type { Compact, PayloadReader } from "../payload-reader.js";

/** A turn that was sent to the model. */
export type SafeModelRequested = Compact<{
  runId: number;
  turnIndex: number;
  modelId: string | undefined;
  toolNames: string[];
  toolChoice: string | undefined;
}>;

/** The prompt stays inside. */
export function readModelRequested(reader: PayloadReader): SafeModelRequested {
  return compact({
    runId: reader.ledgerId("runId"),
    turnIndex: reader.object("turn").count("index"),
    modelId: reader.optionalIdentifier("modelId"),
    toolNames: reader.identifiers("toolNames"),
    toolChoice: reader.code("toolChoice"),
  });
}

/** The token counts of a response; nothing else of its usage record. */
export type SafeUsage = { promptTokens: number; completionTokens: number; totalTokens: number };

/** One item of a model response. */
export type SafeItem =
  | { type: "message"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; toolCallId: string; toolName: string; arguments: Disclosed }
  | { type: "tool_result"; toolCallId: string; result: Disclosed }
  | { type: "refusal"; summary: JsonObject }
  | { type: "error"; summary: JsonObject }
  /** An unknown type, or an item without the ids it needs. */
  | { type: "skipped" };

/** A model response of one turn. */
export type SafeModelResponse = {
  runId: number;
  turnIndex: number;
  items: SafeItem[];
  usage: SafeUsage;
};

/** The text shown for reasoning without a summary. */
export const REDACTED_REASONING = "[redacted reasoning]";

const MAX_ITEMS = 10_000;

/** Reads the items, each by its own rule; at most 10,000. */
export function readModelResponse(reader: PayloadReader): SafeModelResponse {
  const turn = reader.object("turn");
  const usage = reader.object("usage");
  const items = reader.list("items");
  if (items.length > MAX_ITEMS) throw reader.malformed("/items");
  return {
    runId: turn.ledgerId("id"),
    turnIndex: turn.count("index"),
    items: items.map((item, index) =>
      isRecord(item) ? readItem(reader.element("items", index, item)) : { type: "skipped" },
    ),
    usage: {
      promptTokens: usage.count("promptTokens"),
      completionTokens: usage.count("completionTokens"),
      totalTokens: usage.count("totalTokens"),
    },
  };
}

function readItem(item: PayloadReader): SafeItem {
  const { disclosure } = item;
  switch (item.raw("type")) {
    case "message":
      return { type: "message", text: disclosure.text(item.text("text")) };
    case "reasoning":
      return { type: "reasoning", text: reasoningText(item) };
    case "tool_call":
      return readCall(item);
    case "tool_result": {
      const toolCallId = disclosure.identifier(item.raw("callId"));
      if (toolCallId === undefined) return { type: "skipped" };
      const name = disclosure.identifier(item.raw("name"));
      return {
        type: "tool_result",
        toolCallId,
        result: disclosure.toolResult(name, item.raw("content")),
      };
    }
    case "refusal":
      return { type: "refusal", summary: disclosure.summary(item.raw("reason"), "provider_error") };
    case "error":
      return { type: "error", summary: disclosure.summary(item.raw("message"), "provider_error") };
    default:
      return { type: "skipped" };
  }
}

/** Reasoning itself is never shown; a runtime may name a summary that is meant for display. */
function reasoningText(item: PayloadReader): string {
  const summaryRef = item.raw("summaryRef");
  return typeof summaryRef === "string" && item.raw("redacted") !== true
    ? item.disclosure.text(summaryRef)
    : REDACTED_REASONING;
}

function readCall(item: PayloadReader): SafeItem {
  const { disclosure } = item;
  const call = item.raw("call");
  if (!isRecord(call)) return { type: "skipped" };
  const reader = item.object("call");
  const description = reader.raw("function");
  if (!isRecord(description)) return { type: "skipped" };
  const target = reader.object("function");
  const toolCallId = disclosure.identifier(reader.raw("id"));
  const toolName = disclosure.identifier(target.raw("name"));
  if (toolCallId === undefined || toolName === undefined) return { type: "skipped" };
  const shown = disclosure.toolArguments(toolName, target.raw("arguments"));
  return { type: "tool_call", toolCallId, toolName, arguments: shown };
}
