import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import { selectResponse } from "../oatf/index.js";
import type { ResponseEntry } from "../oatf/index.js";

type PendingCall = { readonly start: JsonObject; name: string; arguments: string; ended: boolean };

/** A result the client gives, and the call it answers. */
export type ToolAnswer = { readonly result: JsonObject; readonly call: JsonObject };

/** The tool calls of one run that wait for the client. */
export type ToolCalls = {
  add(name: string, event: JsonObject): void;
  /** The names of the calls that wait and whose end did not come. */
  open(): string[];
  /**
   * Creates results by the dispatch list; the first match wins. Calls without a match are named. So are calls
   * whose result is only `synthesize`, which get the default. `fill` fills the templates of a result.
   */
  answer(
    responses: JsonValue | undefined,
    fill: (content: JsonValue) => JsonValue,
  ): { answers: ToolAnswer[]; unanswered: string[]; unwritten: string[] };
};

/** Remembers calls from their start on, forgets those that the agent answers or that wait for a person. */
export function createToolCalls(): ToolCalls {
  const pending = new Map<string, PendingCall>();
  const extend = (id: string, event: JsonObject, ended: boolean): void => {
    const name = textMember(event, "toolCallName") ?? "";
    const call = pending.get(id) ?? { start: event, name, arguments: "", ended };
    call.arguments += textMember(event, "delta") ?? "";
    call.ended ||= ended;
    pending.set(id, call);
  };
  return {
    add(name, event) {
      if (name === "run_finished") {
        const interrupts = listMember(ownMember(event, "outcome"), "interrupts");
        for (const interrupt of interrupts)
          pending.delete(textMember(interrupt, "toolCallId") ?? "");
      }
      if (name === "run_error") pending.clear();
      const id = textMember(event, "toolCallId");
      if (id === undefined) return;
      if (name === "tool_call_result") pending.delete(id);
      else if (name === "tool_call_chunk") extend(id, event, true);
      else if (name === "tool_call_start") extend(id, event, false);
      else if (name === "tool_call_args" && pending.has(id)) extend(id, event, false);
      else if (name === "tool_call_end" && pending.has(id)) extend(id, event, true);
    },
    open: () => [...pending.values()].filter(({ ended }) => !ended).map(({ name }) => name),
    answer(responses, fill) {
      const answers: ToolAnswer[] = [];
      const unanswered: string[] = [];
      const unwritten: string[] = [];
      for (const [id, call] of pending) {
        if (!call.ended) continue;
        const entry = responses === undefined ? DEFAULT : entryFor(responses, call.start);
        if (entry === null) {
          unanswered.push(call.name);
          continue;
        }
        if (entry.content === undefined) unwritten.push(call.name);
        const content = fill(entry.content ?? "");
        answers.push({ result: resultOf(id, content), call: callOf(id, call) });
      }
      pending.clear();
      return { answers, unanswered, unwritten };
    },
  };
}

/** The answer when a document has no list: an empty success. */
const DEFAULT: ResponseEntry = { content: "" };

function entryFor(responses: JsonValue, start: JsonObject): ResponseEntry | null {
  const entries = Array.isArray(responses) ? responses.filter(isJsonObject) : [];
  return selectResponse(entries as ResponseEntry[], start);
}

function resultOf(toolCallId: string, content: JsonValue): JsonObject {
  const filled = { messageId: randomUUID(), toolCallId };
  return isJsonObject(content) ? { ...filled, ...content } : { ...filled, content };
}

function callOf(id: string, call: PendingCall): JsonObject {
  return { id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

/** The input that carries answers back: the same thread, a new run, the history with calls and results. */
export function followUpInput(input: JsonObject, answers: readonly ToolAnswer[]): JsonObject {
  const { resume: _answered, ...rest } = input;
  const calls: JsonObject = {
    id: randomUUID(),
    role: "assistant",
    toolCalls: answers.map(({ call }) => call),
  };
  const results = answers.map(({ result }): JsonObject => {
    const { messageId, ...message } = result;
    return { id: messageId ?? randomUUID(), ...message, role: "tool" };
  });
  const messages = [...listMember(input, "messages"), calls, ...results];
  return { ...rest, runId: randomUUID(), messages };
}
