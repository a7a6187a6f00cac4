// Emitted from the event table by src/testing/emit-clean.ts; edit the table, not this file.
// Write it again with: COUNTERSIGN_EMIT=1 npx vitest run packages/wire/src/enforce/clean.test.ts
//
// Each predicate is true when a value is valid and holds nothing to remove; it allocates nothing. Emitted
// rather than compiled to closures at start: each function has property accesses of its own, which is three
// times faster on a mixed stream, and `new Function` is forbidden under a content security policy.
import type { JsonObject, JsonValue } from "@countersign/core";
import { isObject } from "./kind.js";
import { isPointer } from "./pointer.js";

function isCleanDeveloperMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string")) return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanSystemMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string")) return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanMessagePartText(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "text":
        if (!(typeof value["text"] === "string")) return false;
        required++;
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;

        break;
      case "metadata":
        if (!(value["metadata"] !== null)) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanDataSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "value":
        if (!(typeof value["value"] === "string")) return false;
        required++;
        break;
      case "mimeType":
        if (!(typeof value["mimeType"] === "string")) return false;
        required++;
        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanUrlSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "value":
        if (!(typeof value["value"] === "string")) return false;
        required++;
        break;
      case "mimeType":
        if (!(typeof value["mimeType"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanFileSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "value":
        if (!(typeof value["value"] === "string")) return false;
        required++;
        break;
      case "provider":
        if (!(typeof value["provider"] === "string")) return false;

        break;
      case "mimeType":
        if (!(typeof value["mimeType"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanSource(value: JsonObject): boolean {
  switch (value["type"]) {
    case "data":
      return isCleanDataSource(value);
    case "url":
      return isCleanUrlSource(value);
    case "file":
      return isCleanFileSource(value);
    default:
      return false;
  }
}

function isCleanMessagePartMedia(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "source":
        if (!(isObject(value["source"]) && isCleanSource(value["source"]))) return false;
        required++;
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;

        break;
      case "metadata":
        if (!(value["metadata"] !== null)) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanMessagePart(value: JsonObject): boolean {
  switch (value["type"]) {
    case "text":
      return isCleanMessagePartText(value);
    case "image":
      return isCleanMessagePartMedia(value);
    case "audio":
      return isCleanMessagePartMedia(value);
    case "video":
      return isCleanMessagePartMedia(value);
    case "document":
      return isCleanMessagePartMedia(value);
    default:
      return false;
  }
}

function isCleanListOf_MessagePart(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanMessagePart(entry))) return false;
  }
  return true;
}

function isCleanUserMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string" || isCleanListOf_MessagePart(value["content"])))
          return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanFunctionCall(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "name":
        if (!(typeof value["name"] === "string")) return false;
        required++;
        break;
      case "arguments":
        if (!(typeof value["arguments"] === "string")) return false;
        required++;
        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanToolCall(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "type":
        if (!(value["type"] === "function")) return false;
        required++;
        break;
      case "function":
        if (!(isObject(value["function"]) && isCleanFunctionCall(value["function"]))) return false;
        required++;
        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isCleanListOf_ToolCall(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanToolCall(entry))) return false;
  }
  return true;
}

function isCleanAssistantMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      case "content":
        if (!(typeof value["content"] === "string")) return false;

        break;
      case "toolCalls":
        if (!isCleanListOf_ToolCall(value["toolCalls"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanToolMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string" || isCleanListOf_MessagePart(value["content"])))
          return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "error":
        if (!(typeof value["error"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isCleanActivityMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "activityType":
        if (!(typeof value["activityType"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!isObject(value["content"])) return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isCleanReasoningMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role":
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string")) return false;
        required++;
        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanMessage(value: JsonObject): boolean {
  switch (value["role"]) {
    case "developer":
      return isCleanDeveloperMessage(value);
    case "system":
      return isCleanSystemMessage(value);
    case "user":
      return isCleanUserMessage(value);
    case "assistant":
      return isCleanAssistantMessage(value);
    case "tool":
      return isCleanToolMessage(value);
    case "activity":
      return isCleanActivityMessage(value);
    case "reasoning":
      return isCleanReasoningMessage(value);
    default:
      return false;
  }
}

function isCleanListOf_Message(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanMessage(entry))) return false;
  }
  return true;
}

function isCleanTool(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "name":
        if (!(typeof value["name"] === "string")) return false;
        required++;
        break;
      case "description":
        if (!(typeof value["description"] === "string")) return false;
        required++;
        break;
      case "parameters":
        if (!(value["parameters"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanListOf_Tool(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanTool(entry))) return false;
  }
  return true;
}

function isCleanContext(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "description":
        if (!(typeof value["description"] === "string")) return false;
        required++;
        break;
      case "value":
        if (!(typeof value["value"] === "string")) return false;
        required++;
        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanListOf_Context(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanContext(entry))) return false;
  }
  return true;
}

function isCleanResumeEntry(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "interruptId":
        if (!(typeof value["interruptId"] === "string")) return false;
        required++;
        break;
      case "status":
        if (!(value["status"] === "resolved" || value["status"] === "cancelled")) return false;
        required++;
        break;
      case "payload":
        if (!(value["payload"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanListOf_ResumeEntry(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanResumeEntry(entry))) return false;
  }
  return true;
}

/** Whether an input is valid and holds nothing to remove. */ export function isCleanRunAgentInput(
  value: JsonObject,
): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "threadId":
        if (!(typeof value["threadId"] === "string")) return false;
        required++;
        break;
      case "runId":
        if (!(typeof value["runId"] === "string")) return false;
        required++;
        break;
      case "messages":
        if (!isCleanListOf_Message(value["messages"])) return false;
        required++;
        break;
      case "protocolVersion":
        if (!(typeof value["protocolVersion"] === "string")) return false;

        break;
      case "parentRunId":
        if (!(typeof value["parentRunId"] === "string")) return false;

        break;
      case "state":
        if (!(value["state"] !== null)) return false;

        break;
      case "tools":
        if (!isCleanListOf_Tool(value["tools"])) return false;

        break;
      case "context":
        if (!isCleanListOf_Context(value["context"])) return false;

        break;
      case "forwardedProps":
        if (!(value["forwardedProps"] !== null)) return false;

        break;
      case "resume":
        if (!isCleanListOf_ResumeEntry(value["resume"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isClean_RUN_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "threadId":
        if (!(typeof value["threadId"] === "string")) return false;
        required++;
        break;
      case "runId":
        if (!(typeof value["runId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "protocolVersion":
        if (!(typeof value["protocolVersion"] === "string")) return false;

        break;
      case "parentRunId":
        if (!(typeof value["parentRunId"] === "string")) return false;

        break;
      case "input":
        if (!(isObject(value["input"]) && isCleanRunAgentInput(value["input"]))) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanListOf_string(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(typeof entry === "string")) return false;
  }
  return true;
}

function isCleanRunSuccess(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "pendingToolCallIds":
        if (!isCleanListOf_string(value["pendingToolCallIds"])) return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanInterrupt(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "id":
        if (!(typeof value["id"] === "string")) return false;
        required++;
        break;
      case "reason":
        if (!(typeof value["reason"] === "string")) return false;
        required++;
        break;
      case "message":
        if (!(typeof value["message"] === "string")) return false;

        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;

        break;
      case "responseSchema":
        if (!isObject(value["responseSchema"])) return false;

        break;
      case "expiresAt":
        if (!(typeof value["expiresAt"] === "string")) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanListOf_Interrupt(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value) || value.length < 1) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanInterrupt(entry))) return false;
  }
  return true;
}

function isCleanRunInterrupt(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "interrupts":
        if (!isCleanListOf_Interrupt(value["interrupts"])) return false;
        required++;
        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanRunCancelled(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanRunOutcome(value: JsonObject): boolean {
  switch (value["type"]) {
    case "success":
      return isCleanRunSuccess(value);
    case "interrupt":
      return isCleanRunInterrupt(value);
    case "cancelled":
      return isCleanRunCancelled(value);
    default:
      return false;
  }
}

function isCleanTokenUsage(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "provider":
        if (!(typeof value["provider"] === "string")) return false;

        break;
      case "model":
        if (!(typeof value["model"] === "string")) return false;

        break;
      case "inputTokens":
        if (!(Number.isSafeInteger(value["inputTokens"]) && (value["inputTokens"] as number) >= 0))
          return false;

        break;
      case "outputTokens":
        if (
          !(Number.isSafeInteger(value["outputTokens"]) && (value["outputTokens"] as number) >= 0)
        )
          return false;

        break;
      case "totalTokens":
        if (!(Number.isSafeInteger(value["totalTokens"]) && (value["totalTokens"] as number) >= 0))
          return false;

        break;
      case "reasoningTokens":
        if (
          !(
            Number.isSafeInteger(value["reasoningTokens"]) &&
            (value["reasoningTokens"] as number) >= 0
          )
        )
          return false;

        break;
      case "cachedInputTokens":
        if (
          !(
            Number.isSafeInteger(value["cachedInputTokens"]) &&
            (value["cachedInputTokens"] as number) >= 0
          )
        )
          return false;

        break;
      case "cacheWriteInputTokens":
        if (
          !(
            Number.isSafeInteger(value["cacheWriteInputTokens"]) &&
            (value["cacheWriteInputTokens"] as number) >= 0
          )
        )
          return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanListOf_TokenUsage(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanTokenUsage(entry))) return false;
  }
  return true;
}

function isClean_RUN_FINISHED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "threadId":
        if (!(typeof value["threadId"] === "string")) return false;
        required++;
        break;
      case "runId":
        if (!(typeof value["runId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "result":
        if (!(value["result"] !== null)) return false;

        break;
      case "outcome":
        if (!(isObject(value["outcome"]) && isCleanRunOutcome(value["outcome"]))) return false;

        break;
      case "usage":
        if (!isCleanListOf_TokenUsage(value["usage"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_RUN_ERROR(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "message":
        if (!(typeof value["message"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "code":
        if (!(typeof value["code"] === "string")) return false;

        break;
      case "usage":
        if (!isCleanListOf_TokenUsage(value["usage"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_STEP_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "stepName":
        if (!(typeof value["stepName"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_STEP_FINISHED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "stepName":
        if (!(typeof value["stepName"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_TEXT_MESSAGE_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "role":
        if (
          !(
            value["role"] === "developer" ||
            value["role"] === "system" ||
            value["role"] === "assistant" ||
            value["role"] === "user"
          )
        )
          return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_TEXT_MESSAGE_CONTENT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_TEXT_MESSAGE_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_TEXT_MESSAGE_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;

        break;
      case "role":
        if (
          !(
            value["role"] === "developer" ||
            value["role"] === "system" ||
            value["role"] === "assistant" ||
            value["role"] === "user"
          )
        )
          return false;

        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;

        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isClean_TOOL_CALL_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;
        required++;
        break;
      case "toolCallName":
        if (!(typeof value["toolCallName"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "parentMessageId":
        if (!(typeof value["parentMessageId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_TOOL_CALL_ARGS(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;
        required++;
        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_TOOL_CALL_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_TOOL_CALL_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;

        break;
      case "toolCallName":
        if (!(typeof value["toolCallName"] === "string")) return false;

        break;
      case "parentMessageId":
        if (!(typeof value["parentMessageId"] === "string")) return false;

        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanResultPartText(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "text":
        if (!(typeof value["text"] === "string")) return false;
        required++;
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;

        break;
      case "metadata":
        if (!(value["metadata"] !== null)) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanResultPartMedia(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "source":
        if (!(isObject(value["source"]) && isCleanSource(value["source"]))) return false;
        required++;
        break;
      case "id":
        if (!(typeof value["id"] === "string")) return false;

        break;
      case "metadata":
        if (!(value["metadata"] !== null)) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanResultPart(value: JsonObject): boolean {
  switch (value["type"]) {
    case "text":
      return isCleanResultPartText(value);
    case "image":
      return isCleanResultPartMedia(value);
    case "audio":
      return isCleanResultPartMedia(value);
    case "video":
      return isCleanResultPartMedia(value);
    case "document":
      return isCleanResultPartMedia(value);
    default:
      return false;
  }
}

function isCleanListOf_ResultPart(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanResultPart(entry))) return false;
  }
  return true;
}

function isClean_TOOL_CALL_RESULT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "toolCallId":
        if (!(typeof value["toolCallId"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!(typeof value["content"] === "string" || isCleanListOf_ResultPart(value["content"])))
          return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "role":
        if (!(value["role"] === "tool")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isClean_REASONING_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_REASONING_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_REASONING_MESSAGE_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "role":
        if (!(value["role"] === "reasoning")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_REASONING_MESSAGE_CONTENT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_REASONING_MESSAGE_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_REASONING_MESSAGE_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;

        break;
      case "delta":
        if (!(typeof value["delta"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isClean_REASONING_ENCRYPTED_VALUE(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "subtype":
        if (!(value["subtype"] === "tool-call" || value["subtype"] === "message")) return false;
        required++;
        break;
      case "entityId":
        if (!(typeof value["entityId"] === "string")) return false;
        required++;
        break;
      case "encryptedValue":
        if (!(typeof value["encryptedValue"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isClean_STATE_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "snapshot":
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isCleanAddOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      case "value":
        required++;
        break;
      default:
        break;
    }
  }
  return required === 2;
}

function isCleanRemoveOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      default:
        break;
    }
  }
  return required === 1;
}

function isCleanReplaceOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      case "value":
        required++;
        break;
      default:
        break;
    }
  }
  return required === 2;
}

function isCleanMoveOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      case "from":
        if (!(typeof value["from"] === "string" && isPointer(value["from"]))) return false;
        required++;
        break;
      default:
        break;
    }
  }
  return required === 2;
}

function isCleanCopyOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      case "from":
        if (!(typeof value["from"] === "string" && isPointer(value["from"]))) return false;
        required++;
        break;
      default:
        break;
    }
  }
  return required === 2;
}

function isCleanTestOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op":
        break;
      case "path":
        if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false;
        required++;
        break;
      case "value":
        required++;
        break;
      default:
        break;
    }
  }
  return required === 2;
}

function isCleanPatchOperation(value: JsonObject): boolean {
  switch (value["op"]) {
    case "add":
      return isCleanAddOperation(value);
    case "remove":
      return isCleanRemoveOperation(value);
    case "replace":
      return isCleanReplaceOperation(value);
    case "move":
      return isCleanMoveOperation(value);
    case "copy":
      return isCleanCopyOperation(value);
    case "test":
      return isCleanTestOperation(value);
    default:
      return false;
  }
}

function isCleanListOf_PatchOperation(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isObject(entry) && isCleanPatchOperation(entry))) return false;
  }
  return true;
}

function isClean_STATE_DELTA(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "delta":
        if (!isCleanListOf_PatchOperation(value["delta"])) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_MESSAGES_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messages":
        if (!isCleanListOf_Message(value["messages"])) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_ACTIVITY_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "activityType":
        if (!(typeof value["activityType"] === "string")) return false;
        required++;
        break;
      case "content":
        if (!isObject(value["content"])) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "replace":
        if (!(typeof value["replace"] === "boolean")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isClean_ACTIVITY_DELTA(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "messageId":
        if (!(typeof value["messageId"] === "string")) return false;
        required++;
        break;
      case "activityType":
        if (!(typeof value["activityType"] === "string")) return false;
        required++;
        break;
      case "patch":
        if (!isCleanListOf_PatchOperation(value["patch"])) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 3;
}

function isClean_SUBAGENT_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;
        required++;
        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "description":
        if (!(typeof value["description"] === "string")) return false;

        break;
      case "parentSubagentRunId":
        if (!(typeof value["parentSubagentRunId"] === "string")) return false;

        break;
      case "parentToolCallId":
        if (!(typeof value["parentToolCallId"] === "string")) return false;

        break;
      case "parentMessageId":
        if (!(typeof value["parentMessageId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isCleanSubagentSuccess(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanSubagentSuspended(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "interruptIds":
        if (!isCleanListOf_string(value["interruptIds"])) return false;

        break;
      default:
        return false;
    }
  }
  return true;
}

function isCleanSubagentOutcome(value: JsonObject): boolean {
  switch (value["type"]) {
    case "success":
      return isCleanSubagentSuccess(value);
    case "suspended":
      return isCleanSubagentSuspended(value);
    default:
      return false;
  }
}

function isClean_SUBAGENT_FINISHED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "result":
        if (!(value["result"] !== null)) return false;

        break;
      case "outcome":
        if (!(isObject(value["outcome"]) && isCleanSubagentOutcome(value["outcome"]))) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_SUBAGENT_ERROR(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;
        required++;
        break;
      case "message":
        if (!(typeof value["message"] === "string")) return false;
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "code":
        if (!(typeof value["code"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

function isClean_RAW(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "event":
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      case "source":
        if (!(typeof value["source"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 1;
}

function isClean_CUSTOM(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type":
        break;
      case "name":
        if (!(typeof value["name"] === "string")) return false;
        required++;
        break;
      case "value":
        required++;
        break;
      case "timestamp":
        if (!Number.isSafeInteger(value["timestamp"])) return false;

        break;
      case "rawEvent":
        if (!(value["rawEvent"] !== null)) return false;

        break;
      case "metadata":
        if (!isObject(value["metadata"])) return false;

        break;
      case "subagentRunId":
        if (!(typeof value["subagentRunId"] === "string")) return false;

        break;
      default:
        return false;
    }
  }
  return required === 2;
}

/** Whether an event is valid and holds nothing to remove. */
export function isCleanEvent(value: JsonObject): boolean {
  const type = value["type"];
  if (typeof type !== "string") return false;
  // Strings fresh from a parser carry no hash yet: length first is cheaper than a map.
  switch (type.length) {
    case 3:
      if (type === "RAW") return isClean_RAW(value);
      return false;
    case 6:
      if (type === "CUSTOM") return isClean_CUSTOM(value);
      return false;
    case 9:
      if (type === "RUN_ERROR") return isClean_RUN_ERROR(value);
      return false;
    case 11:
      if (type === "RUN_STARTED") return isClean_RUN_STARTED(value);
      if (type === "STATE_DELTA") return isClean_STATE_DELTA(value);
      return false;
    case 12:
      if (type === "RUN_FINISHED") return isClean_RUN_FINISHED(value);
      if (type === "STEP_STARTED") return isClean_STEP_STARTED(value);
      return false;
    case 13:
      if (type === "STEP_FINISHED") return isClean_STEP_FINISHED(value);
      if (type === "TOOL_CALL_END") return isClean_TOOL_CALL_END(value);
      if (type === "REASONING_END") return isClean_REASONING_END(value);
      return false;
    case 14:
      if (type === "TOOL_CALL_ARGS") return isClean_TOOL_CALL_ARGS(value);
      if (type === "STATE_SNAPSHOT") return isClean_STATE_SNAPSHOT(value);
      if (type === "ACTIVITY_DELTA") return isClean_ACTIVITY_DELTA(value);
      if (type === "SUBAGENT_ERROR") return isClean_SUBAGENT_ERROR(value);
      return false;
    case 15:
      if (type === "TOOL_CALL_START") return isClean_TOOL_CALL_START(value);
      if (type === "TOOL_CALL_CHUNK") return isClean_TOOL_CALL_CHUNK(value);
      if (type === "REASONING_START") return isClean_REASONING_START(value);
      return false;
    case 16:
      if (type === "TEXT_MESSAGE_END") return isClean_TEXT_MESSAGE_END(value);
      if (type === "TOOL_CALL_RESULT") return isClean_TOOL_CALL_RESULT(value);
      if (type === "SUBAGENT_STARTED") return isClean_SUBAGENT_STARTED(value);
      return false;
    case 17:
      if (type === "MESSAGES_SNAPSHOT") return isClean_MESSAGES_SNAPSHOT(value);
      if (type === "ACTIVITY_SNAPSHOT") return isClean_ACTIVITY_SNAPSHOT(value);
      if (type === "SUBAGENT_FINISHED") return isClean_SUBAGENT_FINISHED(value);
      return false;
    case 18:
      if (type === "TEXT_MESSAGE_START") return isClean_TEXT_MESSAGE_START(value);
      if (type === "TEXT_MESSAGE_CHUNK") return isClean_TEXT_MESSAGE_CHUNK(value);
      return false;
    case 20:
      if (type === "TEXT_MESSAGE_CONTENT") return isClean_TEXT_MESSAGE_CONTENT(value);
      return false;
    case 21:
      if (type === "REASONING_MESSAGE_END") return isClean_REASONING_MESSAGE_END(value);
      return false;
    case 23:
      if (type === "REASONING_MESSAGE_START") return isClean_REASONING_MESSAGE_START(value);
      if (type === "REASONING_MESSAGE_CHUNK") return isClean_REASONING_MESSAGE_CHUNK(value);
      return false;
    case 25:
      if (type === "REASONING_MESSAGE_CONTENT") return isClean_REASONING_MESSAGE_CONTENT(value);
      if (type === "REASONING_ENCRYPTED_VALUE") return isClean_REASONING_ENCRYPTED_VALUE(value);
      return false;
    default:
      return false;
  }
}
