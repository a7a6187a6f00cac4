import { randomUUID } from "node:crypto";
import type { Message } from "@a2a-js/sdk";
import type { JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";

/** A message of the A2A SDK with one text. */
export function textMessage(role: Message["role"], text: string, contextId = ""): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId: "",
    role,
    parts: [
      {
        content: { $case: "text", value: text },
        metadata: undefined,
        filename: "",
        mediaType: "text/plain",
      },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** Every text part of a message or task of the A2A SDK: its status, its history, its artifacts. */
export function textsIn(value: object): string {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const text = textMember(node, "$case") === "text" ? textMember(node, "value") : undefined;
    if (text === undefined) for (const child of Object.values(node) as JsonValue[]) visit(child);
    else found.push(text);
  };
  visit(value);
  return found.join("\n");
}
