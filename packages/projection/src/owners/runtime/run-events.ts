import type { JsonObject } from "@countersign/core";
import type { SafeValue } from "../../safe/value.js";
import { safeValueFromUnknown } from "../../safe/value.js";
import { structureOf } from "../../tools/structure.js";
import { compact } from "../payload-reader.js";
import type { Compact, PayloadReader } from "../payload-reader.js";

/** The run id of a started run is the ledger id of this event. */
export type SafeRunStarted = { runId: number; intent: SafeValue };

/** The disclosure of inputs applies to the intent. */
export function readRunStarted(reader: PayloadReader, eventId: number): SafeRunStarted {
  return { runId: eventId, intent: reader.disclosure.runInput(reader.raw("intent")) };
}

/** A chat that became the input of a run. */
export type SafeChatIngested = { runId: number; intent: SafeValue };

/** The context of a chat may contain private prompts: it is not read. */
export function readChatIngested(reader: PayloadReader): SafeChatIngested {
  return {
    runId: reader.ledgerId("runId"),
    intent: reader.disclosure.runInput(reader.raw("intent")),
  };
}

/** A completed run. */
export type SafeRunCompleted = Compact<{
  runId: number;
  final: SafeValue;
  output: SafeValue;
  outputKind: string;
  tokensUsed: number;
  turnIndex: number | undefined;
}>;

/** The disclosure of outputs applies to the output. */
export function readRunCompleted(reader: PayloadReader): SafeRunCompleted {
  const outputKind = reader.text("outputKind");
  if (outputKind !== "text" && outputKind !== "json") throw reader.malformed("/outputKind");
  const final = reader.raw("final");
  return compact({
    runId: reader.ledgerId("runId"),
    // A flag in some runtimes, the final text in others: text is content like the output.
    final: typeof final === "boolean" ? final : reader.disclosure.runOutput(final),
    output: reader.disclosure.runOutput(reader.raw("output")),
    outputKind,
    tokensUsed: reader.count("tokensUsed"),
    turnIndex: reader.optionalObject("turn")?.count("index"),
  });
}

/** An aborted run. */
export type SafeRunAborted = Compact<{
  runId: number;
  abortKind: string;
  tokensUsed: number;
  toolName: string | undefined;
  cause: string | undefined;
}>;

/** Other members are not read: a cause may contain arguments, addresses and keys. */
export function readRunAborted(reader: PayloadReader, kind: string): SafeRunAborted {
  return compact({
    runId: reader.ledgerId("runId"),
    abortKind: kind.slice("agent.aborted.".length),
    tokensUsed: reader.count("tokensUsed"),
    toolName: reader.optionalIdentifier("toolName"),
    cause: reader.disclosure.cause(reader.raw("cause")),
  });
}

/** A run that waits for a person. */
export type SafeRunInterrupted = Compact<{
  runId: number;
  turnIndex: number;
  interruptId: string;
  reason: string;
  hasResumeSchema: true;
  tokensUsed: number;
  responseSchema: JsonObject | undefined;
  decision:
    | { gateRef: string; subjectRef: string; toolCallId: string; toolName: string }
    | undefined;
}>;

/** A decision is shown by reference, with its call. */
export function readRunInterrupted(reader: PayloadReader): SafeRunInterrupted {
  const decision = reader.optionalObject("decision");
  return compact({
    runId: reader.ledgerId("runId"),
    turnIndex: reader.object("turn").count("index"),
    interruptId: reader.identifier("interruptId"),
    reason: reader.code("reason") ?? "other",
    hasResumeSchema: true as const,
    tokensUsed: reader.count("tokensUsed"),
    responseSchema: responseSchema(reader),
    decision:
      decision === undefined
        ? undefined
        : {
            gateRef: decision.identifier("gateRef"),
            subjectRef: decision.identifier("subjectRef"),
            toolCallId: decision.identifier("toolCallId"),
            toolName: decision.identifier("toolName"),
          },
  });
}

/** A form may contain private text, so by default a client learns only that one exists. */
function responseSchema(reader: PayloadReader): JsonObject | undefined {
  const detail = reader.disclosure.resumeSchema;
  if (detail === "withhold") return undefined;
  const form = reader.raw("resumeSchema");
  const schema = detail === "structure" ? structureOf(form) : safeValueFromUnknown(form);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const text = JSON.stringify(schema);
  return reader.disclosure.text(text) === text ? schema : undefined;
}

/** A run that a person resumed. */
export type SafeRunResumed = {
  runId: number;
  turnIndex: number;
  interruptId: string;
  resumedAtEventId: number;
};

/** The answer stays inside: it may be a secret that the person typed. */
export function readRunResumed(reader: PayloadReader): SafeRunResumed {
  return {
    runId: reader.ledgerId("runId"),
    turnIndex: reader.object("turn").count("index"),
    interruptId: reader.identifier("interruptId"),
    resumedAtEventId: reader.ledgerId("resumedAtEventId"),
  };
}
