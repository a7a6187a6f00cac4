// Emitted from the event table by src/testing/emit-clean.ts; edit the table, not this file.
// Write it again with: COUNTERSIGN_EMIT=1 npx vitest run packages/wire/src/enforce/clean.test.ts
//
// Each predicate is true when a value is valid and holds nothing to remove; it allocates nothing. Emitted
// rather than compiled to closures at start: each function has property accesses of its own, which is three
// times faster on a mixed stream, and `new Function` is forbidden under a content security policy.
import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isPointer } from "../pointer.js";

function isClean_RUN_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "threadId": if (!(typeof value["threadId"] === "string")) return false; required++; break;
      case "runId": if (!(typeof value["runId"] === "string")) return false; required++; break;
      case "protocolVersion": if (!(typeof value["protocolVersion"] === "string")) return false; break;
      case "parentRunId": if (!(typeof value["parentRunId"] === "string")) return false; break;
      case "input": if (!(isJsonObject(value["input"]) && isClean_RunAgentInput(value["input"]))) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 2;
}
function isCleanCommonField_3(key: string, value: JsonObject): boolean {
  switch (key) {
    case "timestamp": return Number.isSafeInteger(value["timestamp"]);
    case "rawEvent": return value["rawEvent"] !== null;
    case "metadata": return isJsonObject(value["metadata"]);
    default: return false;
  }
}
/** Whether a RunAgentInput is valid and holds nothing to remove. */
export function isClean_RunAgentInput(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "threadId": if (!(typeof value["threadId"] === "string")) return false; required++; break;
      case "runId": if (!(typeof value["runId"] === "string")) return false; required++; break;
      case "messages": if (!(isClean_ListOf_Message(value["messages"]))) return false; required++; break;
      case "protocolVersion": if (!(typeof value["protocolVersion"] === "string")) return false; break;
      case "parentRunId": if (!(typeof value["parentRunId"] === "string")) return false; break;
      case "state": if (!(value["state"] !== null)) return false; break;
      case "tools": if (!(isClean_ListOf_Tool(value["tools"]))) return false; break;
      case "context": if (!(isClean_ListOf_Context(value["context"]))) return false; break;
      case "forwardedProps": if (!(value["forwardedProps"] !== null)) return false; break;
      case "resume": if (!(isClean_ListOf_ResumeEntry(value["resume"]))) return false; break;
      default: return false;
    }
  }
  return required === 3;
}
function isClean_ListOf_Message(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_Message(entry))) return false;
  }
  return true;
}
function isClean_Message(value: JsonObject): boolean {
  switch (value["role"]) {
    case "developer": return isClean_DeveloperMessage(value);
    case "system": return isClean_DeveloperMessage(value);
    case "user": return isClean_UserMessage(value);
    case "assistant": return isClean_AssistantMessage(value);
    case "tool": return isClean_ToolMessage(value);
    case "activity": return isClean_ActivityMessage(value);
    case "reasoning": return isClean_ReasoningMessage(value);
    default: return false;
  }
}
function isClean_DeveloperMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "content": if (!(typeof value["content"] === "string")) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      case "name": if (!(typeof value["name"] === "string")) return false; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_UserMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "content": if (!(typeof value["content"] === "string" || isClean_ListOf_MessagePart(value["content"]))) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      case "name": if (!(typeof value["name"] === "string")) return false; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_ListOf_MessagePart(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_MessagePart(entry))) return false;
  }
  return true;
}
function isClean_MessagePart(value: JsonObject): boolean {
  switch (value["type"]) {
    case "text": return isClean_MessagePartText(value);
    case "image": return isClean_MessagePartMedia(value);
    case "audio": return isClean_MessagePartMedia(value);
    case "video": return isClean_MessagePartMedia(value);
    case "document": return isClean_MessagePartMedia(value);
    default: return false;
  }
}
function isClean_MessagePartText(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "text": if (!(typeof value["text"] === "string")) return false; required++; break;
      case "id": if (!(typeof value["id"] === "string")) return false; break;
      case "metadata": if (!(value["metadata"] !== null)) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_MessagePartMedia(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "source": if (!(isJsonObject(value["source"]) && isClean_Source(value["source"]))) return false; required++; break;
      case "id": if (!(typeof value["id"] === "string")) return false; break;
      case "metadata": if (!(value["metadata"] !== null)) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_Source(value: JsonObject): boolean {
  switch (value["type"]) {
    case "data": return isClean_DataSource(value);
    case "url": return isClean_UrlSource(value);
    case "file": return isClean_FileSource(value);
    default: return false;
  }
}
function isClean_DataSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "value": if (!(typeof value["value"] === "string")) return false; required++; break;
      case "mimeType": if (!(typeof value["mimeType"] === "string")) return false; required++; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_UrlSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "value": if (!(typeof value["value"] === "string")) return false; required++; break;
      case "mimeType": if (!(typeof value["mimeType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_FileSource(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "value": if (!(typeof value["value"] === "string")) return false; required++; break;
      case "provider": if (!(typeof value["provider"] === "string")) return false; break;
      case "mimeType": if (!(typeof value["mimeType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_AssistantMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      case "name": if (!(typeof value["name"] === "string")) return false; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      case "content": if (!(typeof value["content"] === "string")) return false; break;
      case "toolCalls": if (!(isClean_ListOf_ToolCall(value["toolCalls"]))) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_ListOf_ToolCall(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_ToolCall(entry))) return false;
  }
  return true;
}
function isClean_ToolCall(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "type": if (!(value["type"] === "function")) return false; required++; break;
      case "function": if (!(isJsonObject(value["function"]) && isClean_FunctionCall(value["function"]))) return false; required++; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      default: return false;
    }
  }
  return required === 3;
}
function isClean_FunctionCall(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "name": if (!(typeof value["name"] === "string")) return false; required++; break;
      case "arguments": if (!(typeof value["arguments"] === "string")) return false; required++; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_ToolMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; required++; break;
      case "content": if (!(typeof value["content"] === "string" || isClean_ListOf_MessagePart(value["content"]))) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      case "error": if (!(typeof value["error"] === "string")) return false; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 3;
}
function isClean_ActivityMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "activityType": if (!(typeof value["activityType"] === "string")) return false; required++; break;
      case "content": if (!(isJsonObject(value["content"]))) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 3;
}
function isClean_ReasoningMessage(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "role": break;
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "content": if (!(typeof value["content"] === "string")) return false; required++; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; break;
      case "encryptedValueType": if (!Object.hasOwn(value, "encryptedValue") || !(typeof value["encryptedValueType"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_ListOf_Tool(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_Tool(entry))) return false;
  }
  return true;
}
function isClean_Tool(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "name": if (!(typeof value["name"] === "string")) return false; required++; break;
      case "description": if (!(typeof value["description"] === "string")) return false; required++; break;
      case "parameters": if (!(value["parameters"] !== null)) return false; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_ListOf_Context(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_Context(entry))) return false;
  }
  return true;
}
function isClean_Context(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "description": if (!(typeof value["description"] === "string")) return false; required++; break;
      case "value": if (!(typeof value["value"] === "string")) return false; required++; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_ListOf_ResumeEntry(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_ResumeEntry(entry))) return false;
  }
  return true;
}
function isClean_ResumeEntry(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "interruptId": if (!(typeof value["interruptId"] === "string")) return false; required++; break;
      case "status": if (!(value["status"] === "resolved" || value["status"] === "cancelled")) return false; required++; break;
      case "payload": if (!(value["payload"] !== null)) return false; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_RUN_FINISHED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "threadId": if (!(typeof value["threadId"] === "string")) return false; required++; break;
      case "runId": if (!(typeof value["runId"] === "string")) return false; required++; break;
      case "result": if (!(value["result"] !== null)) return false; break;
      case "outcome": if (!(isJsonObject(value["outcome"]) && isClean_RunOutcome(value["outcome"]))) return false; break;
      case "usage": if (!(isClean_ListOf_TokenUsage(value["usage"]))) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_RunOutcome(value: JsonObject): boolean {
  switch (value["type"]) {
    case "success": return isClean_RunSuccess(value);
    case "interrupt": return isClean_RunInterrupt(value);
    case "cancelled": return isClean_RunCancelled(value);
    default: return false;
  }
}
function isClean_RunSuccess(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "pendingToolCallIds": if (!(isClean_ListOf_string(value["pendingToolCallIds"]))) return false; break;
      default: return false;
    }
  }
  return true;
}
function isClean_ListOf_string(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(typeof entry === "string")) return false;
  }
  return true;
}
function isClean_RunInterrupt(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "interrupts": if (!(isClean_1OrMore_Interrupt(value["interrupts"]))) return false; required++; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_1OrMore_Interrupt(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value) || value.length < 1) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_Interrupt(entry))) return false;
  }
  return true;
}
function isClean_Interrupt(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "id": if (!(typeof value["id"] === "string")) return false; required++; break;
      case "reason": if (!(typeof value["reason"] === "string")) return false; required++; break;
      case "message": if (!(typeof value["message"] === "string")) return false; break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; break;
      case "responseSchema": if (!(isJsonObject(value["responseSchema"]))) return false; break;
      case "expiresAt": if (!(typeof value["expiresAt"] === "string")) return false; break;
      case "metadata": if (!(isJsonObject(value["metadata"]))) return false; break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; break;
      default: return false;
    }
  }
  return required === 2;
}
function isClean_RunCancelled(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      default: return false;
    }
  }
  return true;
}
function isClean_ListOf_TokenUsage(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_TokenUsage(entry))) return false;
  }
  return true;
}
function isClean_TokenUsage(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "provider": if (!(typeof value["provider"] === "string")) return false; break;
      case "model": if (!(typeof value["model"] === "string")) return false; break;
      case "inputTokens": if (!(Number.isSafeInteger(value["inputTokens"]) && (value["inputTokens"] as number) >= 0)) return false; break;
      case "outputTokens": if (!(Number.isSafeInteger(value["outputTokens"]) && (value["outputTokens"] as number) >= 0)) return false; break;
      case "totalTokens": if (!(Number.isSafeInteger(value["totalTokens"]) && (value["totalTokens"] as number) >= 0)) return false; break;
      case "reasoningTokens": if (!(Number.isSafeInteger(value["reasoningTokens"]) && (value["reasoningTokens"] as number) >= 0)) return false; break;
      case "cachedInputTokens": if (!(Number.isSafeInteger(value["cachedInputTokens"]) && (value["cachedInputTokens"] as number) >= 0)) return false; break;
      case "cacheWriteInputTokens": if (!(Number.isSafeInteger(value["cacheWriteInputTokens"]) && (value["cacheWriteInputTokens"] as number) >= 0)) return false; break;
      default: return false;
    }
  }
  return true;
}
function isClean_RUN_ERROR(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "message": if (!(typeof value["message"] === "string")) return false; required++; break;
      case "code": if (!(typeof value["code"] === "string")) return false; break;
      case "usage": if (!(isClean_ListOf_TokenUsage(value["usage"]))) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_STEP_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "stepName": if (!(typeof value["stepName"] === "string")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isCleanCommonField_4(key: string, value: JsonObject): boolean {
  switch (key) {
    case "timestamp": return Number.isSafeInteger(value["timestamp"]);
    case "rawEvent": return value["rawEvent"] !== null;
    case "metadata": return isJsonObject(value["metadata"]);
    case "subagentRunId": return typeof value["subagentRunId"] === "string";
    default: return false;
  }
}
function isClean_TEXT_MESSAGE_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "role": if (!(value["role"] === "developer" || value["role"] === "system" || value["role"] === "assistant" || value["role"] === "user")) return false; break;
      case "name": if (!(typeof value["name"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_TEXT_MESSAGE_CONTENT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "delta": if (!(typeof value["delta"] === "string")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_TEXT_MESSAGE_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_TEXT_MESSAGE_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; break;
      case "role": if (!(value["role"] === "developer" || value["role"] === "system" || value["role"] === "assistant" || value["role"] === "user")) return false; break;
      case "delta": if (!(typeof value["delta"] === "string")) return false; break;
      case "name": if (!(typeof value["name"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return true;
}
function isClean_TOOL_CALL_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; required++; break;
      case "toolCallName": if (!(typeof value["toolCallName"] === "string")) return false; required++; break;
      case "parentMessageId": if (!(typeof value["parentMessageId"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_TOOL_CALL_ARGS(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; required++; break;
      case "delta": if (!(typeof value["delta"] === "string")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_TOOL_CALL_END(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_TOOL_CALL_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; break;
      case "toolCallName": if (!(typeof value["toolCallName"] === "string")) return false; break;
      case "parentMessageId": if (!(typeof value["parentMessageId"] === "string")) return false; break;
      case "delta": if (!(typeof value["delta"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return true;
}
function isClean_TOOL_CALL_RESULT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "toolCallId": if (!(typeof value["toolCallId"] === "string")) return false; required++; break;
      case "content": if (!(typeof value["content"] === "string" || isClean_ListOf_ResultPart(value["content"]))) return false; required++; break;
      case "role": if (!(value["role"] === "tool")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 3;
}
function isClean_ListOf_ResultPart(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_ResultPart(entry))) return false;
  }
  return true;
}
function isClean_ResultPart(value: JsonObject): boolean {
  switch (value["type"]) {
    case "text": return isClean_MessagePartText(value);
    case "image": return isClean_ResultPartMedia(value);
    case "audio": return isClean_ResultPartMedia(value);
    case "video": return isClean_ResultPartMedia(value);
    case "document": return isClean_ResultPartMedia(value);
    default: return false;
  }
}
function isClean_ResultPartMedia(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "source": if (!(isJsonObject(value["source"]) && isClean_Source(value["source"]))) return false; required++; break;
      case "id": if (!(typeof value["id"] === "string")) return false; break;
      case "metadata": if (!(value["metadata"] !== null)) return false; break;
      default: return false;
    }
  }
  return required === 1;
}
function isClean_REASONING_MESSAGE_START(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "role": if (!(value["role"] === "reasoning")) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_REASONING_MESSAGE_CHUNK(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; break;
      case "delta": if (!(typeof value["delta"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return true;
}
function isClean_REASONING_ENCRYPTED_VALUE(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "subtype": if (!(value["subtype"] === "tool-call" || value["subtype"] === "message")) return false; required++; break;
      case "entityId": if (!(typeof value["entityId"] === "string")) return false; required++; break;
      case "encryptedValue": if (!(typeof value["encryptedValue"] === "string")) return false; required++; break;
      case "encryptedValueType": if (!(typeof value["encryptedValueType"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 3;
}
function isClean_STATE_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "snapshot": required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_STATE_DELTA(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "delta": if (!(isClean_ListOf_PatchOperation(value["delta"]))) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_ListOf_PatchOperation(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) {
    const entry = value[index] as JsonValue;
    if (!(isJsonObject(entry) && isClean_PatchOperation(entry))) return false;
  }
  return true;
}
function isClean_PatchOperation(value: JsonObject): boolean {
  switch (value["op"]) {
    case "add": return isClean_AddOperation(value);
    case "remove": return isClean_RemoveOperation(value);
    case "replace": return isClean_AddOperation(value);
    case "move": return isClean_MoveOperation(value);
    case "copy": return isClean_MoveOperation(value);
    case "test": return isClean_AddOperation(value);
    default: return false;
  }
}
function isClean_AddOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op": break;
      case "path": if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false; required++; break;
      case "value": required++; break;
      default: break;
    }
  }
  return required === 2;
}
function isClean_RemoveOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op": break;
      case "path": if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false; required++; break;
      default: break;
    }
  }
  return required === 1;
}
function isClean_MoveOperation(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "op": break;
      case "path": if (!(typeof value["path"] === "string" && isPointer(value["path"]))) return false; required++; break;
      case "from": if (!(typeof value["from"] === "string" && isPointer(value["from"]))) return false; required++; break;
      default: break;
    }
  }
  return required === 2;
}
function isClean_MESSAGES_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messages": if (!(isClean_ListOf_Message(value["messages"]))) return false; required++; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_ACTIVITY_SNAPSHOT(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "activityType": if (!(typeof value["activityType"] === "string")) return false; required++; break;
      case "content": if (!(isJsonObject(value["content"]))) return false; required++; break;
      case "replace": if (!(typeof value["replace"] === "boolean")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 3;
}
function isClean_ACTIVITY_DELTA(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "messageId": if (!(typeof value["messageId"] === "string")) return false; required++; break;
      case "activityType": if (!(typeof value["activityType"] === "string")) return false; required++; break;
      case "patch": if (!(isClean_ListOf_PatchOperation(value["patch"]))) return false; required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 3;
}
function isClean_SUBAGENT_STARTED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; required++; break;
      case "name": if (!(typeof value["name"] === "string")) return false; required++; break;
      case "description": if (!(typeof value["description"] === "string")) return false; break;
      case "parentSubagentRunId": if (!(typeof value["parentSubagentRunId"] === "string")) return false; break;
      case "parentToolCallId": if (!(typeof value["parentToolCallId"] === "string")) return false; break;
      case "parentMessageId": if (!(typeof value["parentMessageId"] === "string")) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_SUBAGENT_FINISHED(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; required++; break;
      case "result": if (!(value["result"] !== null)) return false; break;
      case "outcome": if (!(isJsonObject(value["outcome"]) && isClean_SubagentOutcome(value["outcome"]))) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_SubagentOutcome(value: JsonObject): boolean {
  switch (value["type"]) {
    case "success": return isClean_RunCancelled(value);
    case "suspended": return isClean_SubagentSuspended(value);
    default: return false;
  }
}
function isClean_SubagentSuspended(value: JsonObject): boolean {
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "interruptIds": if (!(isClean_ListOf_string(value["interruptIds"]))) return false; break;
      default: return false;
    }
  }
  return true;
}
function isClean_SUBAGENT_ERROR(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "subagentRunId": if (!(typeof value["subagentRunId"] === "string")) return false; required++; break;
      case "message": if (!(typeof value["message"] === "string")) return false; required++; break;
      case "code": if (!(typeof value["code"] === "string")) return false; break;
      default: if (!isCleanCommonField_3(key, value)) return false;
    }
  }
  return required === 2;
}
function isClean_RAW(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "event": required++; break;
      case "source": if (!(typeof value["source"] === "string")) return false; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
    }
  }
  return required === 1;
}
function isClean_CUSTOM(value: JsonObject): boolean {
  let required = 0;
  for (const key in value) {
    switch (key) {
      case "type": break;
      case "name": if (!(typeof value["name"] === "string")) return false; required++; break;
      case "value": required++; break;
      default: if (!isCleanCommonField_4(key, value)) return false;
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
      if (type === "STEP_FINISHED") return isClean_STEP_STARTED(value);
      if (type === "TOOL_CALL_END") return isClean_TOOL_CALL_END(value);
      if (type === "REASONING_END") return isClean_TEXT_MESSAGE_END(value);
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
      if (type === "REASONING_START") return isClean_TEXT_MESSAGE_END(value);
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
      if (type === "REASONING_MESSAGE_END") return isClean_TEXT_MESSAGE_END(value);
      return false;
    case 23:
      if (type === "REASONING_MESSAGE_START") return isClean_REASONING_MESSAGE_START(value);
      if (type === "REASONING_MESSAGE_CHUNK") return isClean_REASONING_MESSAGE_CHUNK(value);
      return false;
    case 25:
      if (type === "REASONING_MESSAGE_CONTENT") return isClean_TEXT_MESSAGE_CONTENT(value);
      if (type === "REASONING_ENCRYPTED_VALUE") return isClean_REASONING_ENCRYPTED_VALUE(value);
      return false;
    default:
      return false;
  }
}
