import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type {
  SurfaceInfo,
  SurfaceModel,
  SurfacePayload,
  SurfaceProblem,
  SurfaceProblemCode,
} from "@countersign/surface";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { RuleId } from "../rules/table.js";
import type { Findings } from "./findings.js";

/** The rule that a problem of an interface violates; the others say nothing about the agent. */
const RULE_OF: Readonly<Partial<Record<SurfaceProblemCode, RuleId>>> = {
  "surface/unreadable": "ui/unreadable",
  "surface/unknown-version": "ui/unreadable",
  "surface/unknown-operation": "ui/unreadable",
  "surface/ambiguous-operation": "ui/unreadable",
  "surface/malformed-operation": "ui/unreadable",
  "surface/malformed-data": "ui/unreadable",
  "surface/malformed-expression": "ui/unreadable",
  "surface/update-before-create": "ui/not-created",
  "surface/duplicate-surface": "ui/not-created",
  "surface/foreign-update": "ui/not-created",
  "surface/duplicate-component": "ui/incomplete",
  "surface/missing-type": "ui/incomplete",
  "surface/changed-type": "ui/incomplete",
  "surface/unresolved-child": "ui/incomplete",
  "surface/cycle": "ui/incomplete",
  "surface/over-limit": "ui/large",
};

/** Tools whose arguments are followed at once, and characters of one call. */
const MAX_CALLS = 64;
const MAX_ARGUMENTS = 1024 * 1024;

type Seen = { readonly problems: readonly SurfaceProblem[]; readonly eventNumber: number };

/** Follows the generated interfaces of a stream: A2UI, MCP Apps and HTML. */
export class Interfaces {
  readonly #findings: Findings;
  readonly #contentOf: (messageId: string) => JsonValue | undefined;
  #model: SurfaceModel = createSurfaceModel();
  readonly #calls = new Map<string, { readonly name: string; text: string }>();
  /** The problems of the last event of each message or call: an interface is complete when its stream is. */
  readonly #last = new Map<string, Seen>();
  readonly #conventions = new Set<string>();

  /** @param contentOf the content of an activity as a client has it after the event */
  constructor(findings: Findings, contentOf: (messageId: string) => JsonValue | undefined) {
    this.#findings = findings;
    this.#contentOf = contentOf;
  }

  /** The conventions of the interfaces so far: `A2UI 0.9`, `MCP Apps`, `HTML in a sandbox`. */
  get conventions(): ReadonlySet<string> {
    return this.#conventions;
  }

  /** Takes an event after a client applied it. */
  push(event: AgUiEvent, eventNumber: number): void {
    switch (event.type) {
      case "RUN_STARTED":
        this.end();
        this.#model = createSurfaceModel();
        return;
      case "ACTIVITY_SNAPSHOT":
      case "ACTIVITY_DELTA": {
        const { messageId, activityType } = event;
        const content = this.#contentOf(messageId);
        if (content === undefined) return;
        return this.#apply(
          { kind: "activity", messageId, activityType, content },
          messageId,
          eventNumber,
        );
      }
      case "TOOL_CALL_START":
        if (this.#calls.size < MAX_CALLS) {
          this.#calls.set(event.toolCallId, { name: event.toolCallName, text: "" });
        }
        return;
      case "TOOL_CALL_ARGS": {
        const call = this.#calls.get(event.toolCallId);
        if (call === undefined) return;
        if (call.text.length + event.delta.length > MAX_ARGUMENTS)
          this.#calls.delete(event.toolCallId);
        else call.text += event.delta;
        return;
      }
      case "TOOL_CALL_END": {
        const { toolCallId } = event;
        const call = this.#calls.get(toolCallId);
        this.#calls.delete(toolCallId);
        if (call === undefined) return;
        const payload = { kind: "arguments", toolCallId, ...call, complete: true } as const;
        return this.#apply(payload, toolCallId, eventNumber);
      }
      case "TOOL_CALL_RESULT": {
        const { toolCallId } = event;
        const content = event.content as JsonValue;
        return this.#apply({ kind: "result", toolCallId, content }, toolCallId, eventNumber);
      }
      case "RUN_FINISHED": {
        const { runId, result } = event;
        // The answer to an MCP App that reads its page.
        if (!isJsonObject(result)) return;
        return this.#apply(
          { kind: "resource", sourceId: runId, content: result },
          runId,
          eventNumber,
        );
      }
      case "MESSAGES_SNAPSHOT":
        for (const message of event.messages) this.#listed(message, eventNumber);
        return;
      default:
    }
  }

  /** Clients draw the messages of a list like the events that would have streamed them. */
  #listed(message: Message, eventNumber: number): void {
    switch (message.role) {
      case "activity": {
        const { id: messageId, activityType, content } = message;
        const payload = { kind: "activity", messageId, activityType, content } as const;
        return this.#apply(payload, messageId, eventNumber);
      }
      case "tool": {
        const { toolCallId } = message;
        const content = message.content as JsonValue;
        return this.#apply({ kind: "result", toolCallId, content }, toolCallId, eventNumber);
      }
      case "assistant":
        for (const { id: toolCallId, function: call } of message.toolCalls ?? []) {
          const { name, arguments: text } = call;
          const payload = { kind: "arguments", toolCallId, name, text, complete: true } as const;
          this.#apply(payload, toolCallId, eventNumber);
        }
        return;
      default:
    }
  }

  /** The run is over: reports what its interfaces lack, each rule once for a message or call. */
  end(): void {
    for (const [source, { problems, eventNumber }] of this.#last) {
      const reported = new Set<RuleId>();
      const report = (rule: RuleId | undefined, detail: string): void => {
        if (rule === undefined || reported.has(rule)) return;
        reported.add(rule);
        this.#findings.report(rule, { eventNumber, detail });
      };
      for (const problem of problems) report(RULE_OF[problem.code], sentenceOf(problem));
      if (reported.size > 0) continue;
      for (const { surface, components } of this.#model.drawings(source, 1)) {
        if (surface.kind !== "a2ui" || components.length > 0) continue;
        report(
          "ui/incomplete",
          `${surface.surfaceId}: Nothing is drawn: no component is the root.`,
        );
      }
    }
    this.#last.clear();
    this.#calls.clear();
  }

  #apply(payload: SurfacePayload, source: string, eventNumber: number): void {
    const { isSurface, problems, surfaces } = this.#model.apply(payload);
    if (!isSurface) return;
    for (const surface of surfaces) this.#conventions.add(conventionOf(surface));
    this.#last.set(source, { problems, eventNumber });
  }
}

/** The place and the sentence; the fix is its second sentence, since a report has a heading for the fix of the rule. */
function sentenceOf({ place, sentence }: SurfaceProblem): string {
  const plain = sentence.replace(/ Fix: (.)/u, (_, first: string) => ` ${first.toUpperCase()}`);
  return place === "" ? plain : `${place}: ${plain}`;
}

function conventionOf({ kind, version }: SurfaceInfo): string {
  if (kind === "mcp-app") return "MCP Apps";
  if (kind === "html-sandbox") return "HTML in a sandbox";
  return version === undefined ? "A2UI" : `A2UI ${version}`;
}
