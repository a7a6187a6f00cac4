import type { JsonValue } from "@countersign/core";
import { isCountersignError, parseJson } from "@countersign/core";
import type { Message } from "@countersign/wire";
import type { Aspect, ToolCallFacts } from "./facts.js";
import type { ClassifyContext } from "./context.js";
import { refineNamed } from "./refinement.js";
import type { Refinements } from "./refinement.js";

/** The name of an event whose call has no known start. */
const UNKNOWN_TOOL = "unknown tool call";

/** The agent's own tools appear as progress in the chat; the client's act in the client. */
export function toolAspect(
  name: string | undefined,
  context: ClassifyContext,
  refinements: Refinements,
): Aspect {
  const own: boolean = name !== undefined && context.clientTools?.has(name) === false;
  const base: Aspect = own
    ? {
        eventType: "lifecycle",
        target: refinements.chat,
        classification: "display",
        derived: "display",
      }
    : {
        eventType: "custom",
        customName: name ?? UNKNOWN_TOOL,
        classification: "mutate",
        derived: "mutate",
      };
  return name === undefined ? base : refineNamed(base, refinements.tools, name);
}

/** The facts that the tool rules need about the call of an event. */
export function toolCallFacts(
  known: string | undefined,
  argumentText: string | undefined,
  context: ClassifyContext,
): ToolCallFacts {
  // A call without a known start is matched under a name that no list has, and counts as the
  // client's.
  const name = known ?? UNKNOWN_TOOL;
  const byClient = known === undefined || context.clientTools?.has(known) !== false;
  if (argumentText === undefined) return { name, byClient, state: "partial" };
  const parsed = parseArguments(argumentText);
  return parsed === undefined
    ? { name, byClient, state: "unparsable" }
    : { name, byClient, state: "whole", arguments: parsed };
}

/**
 * Tool calls inside a list of messages: they would bypass a filter that only reads TOOL_CALL_*
 * events.
 */
export function toolCallsOfMessages(
  messages: readonly Message[],
  context: ClassifyContext,
): ToolCallFacts[] {
  const calls: ToolCallFacts[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const call of message.toolCalls ?? []) {
      calls.push(toolCallFacts(call.function.name, call.function.arguments, context));
    }
  }
  return calls;
}

function parseArguments(text: string): JsonValue | undefined {
  // Models send an empty text for a tool without parameters, and every client reads it as {}.
  if (text === "") return {};
  try {
    return parseJson(text);
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}
