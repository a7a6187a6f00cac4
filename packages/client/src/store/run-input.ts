import type { JsonValue } from "@countersign/core";
import type { Message, ResumeEntry, RunAgentInput } from "@countersign/wire";
import { enforceInputCompactly } from "@countersign/wire/enforce/compact";
import type { AgentStoreOptions } from "./agent-store.js";

/**
 * Builds the request of a run: earlier messages, new messages, and the page's tools and context.
 *
 * @throws CountersignError `ERR_ENFORCE_MALFORMED_VALUE` when a value of the page does not fit a
 * request
 */
export function buildInput(
  ids: Pick<RunAgentInput, "threadId" | "runId">,
  { messages, state }: { readonly messages: readonly Message[]; readonly state: JsonValue },
  added: readonly Message[],
  resume: readonly ResumeEntry[] | undefined,
  {
    tools,
    context,
    forwardedProps,
  }: Pick<AgentStoreOptions, "tools" | "context" | "forwardedProps">,
): RunAgentInput {
  const said = [...messages, ...added].filter(({ role }) => role !== "activity");
  const input: RunAgentInput = {
    ...ids,
    protocolVersion: versionOf(said),
    messages: said,
    // Agents of the 0.0 line require every member, and the official clients send all of them.
    state,
    tools: [...(tools ?? [])],
    context: [...(context ?? [])],
    forwardedProps: forwardedProps ?? {},
    ...(resume === undefined ? {} : { resume: [...resume] }),
  };
  return enforceInputCompactly(input as unknown as JsonValue).input;
}

/** The version of AG-UI that defines everything in the messages: 1.1 added the type of an encrypted value. */
function versionOf(messages: readonly Message[]): string {
  const isTyped = (holder: object): boolean => "encryptedValueType" in holder;
  const isNewer = messages.some(
    (message) =>
      isTyped(message) || (message.role === "assistant" && message.toolCalls?.some(isTyped)),
  );
  return isNewer ? "1.1" : "1.0";
}
