import type { JsonObject } from "@countersign/core";
import type { Disclosed } from "../../safe/disclosure.js";
import { compact } from "../payload-reader.js";
import type { Compact, PayloadReader } from "../payload-reader.js";

/** An executed call. */
export type SafeToolExecuted = {
  runId: number;
  toolCallId: string;
  toolName: string;
  arguments: Disclosed;
  result: Disclosed;
};

/** The disclosure of the tool applies to arguments and result. */
export function readToolExecuted(reader: PayloadReader): SafeToolExecuted {
  const toolName = reader.identifier("name");
  return {
    runId: reader.ledgerId("runId"),
    toolCallId: reader.identifier("toolCallId"),
    toolName,
    arguments: reader.disclosure.toolArguments(toolName, reader.raw("args")),
    result: reader.disclosure.toolResult(toolName, reader.raw("result")),
  };
}

/** The phase in which a call was rejected. */
export type RejectionPhase = "parse" | "decode" | "policy" | "material" | "admit" | "execution";

const PHASES: ReadonlySet<string> = new Set<RejectionPhase>([
  "parse",
  "decode",
  "policy",
  "material",
  "admit",
  "execution",
]);

/** A rejected call. */
export type SafeToolRejected = Compact<{
  runId: number;
  toolCallId: string;
  toolName: string;
  arguments: Disclosed;
  phase: RejectionPhase | undefined;
  rejectionKind: string | undefined;
  reason: JsonObject | undefined;
}>;

/**
 * Diagnostics contain arguments and schemas; only the phase is shown, and that there was a reason.
 */
export function readToolRejected(reader: PayloadReader): SafeToolRejected {
  const { disclosure } = reader;
  const toolName = reader.identifier("name");
  const diagnostics = reader.optionalObject("diagnostics");
  const claim = reader.object("claim");
  const phase = diagnostics?.raw("phase");
  const reason = diagnostics?.raw("reason") ?? claim.raw("reason");
  return compact({
    runId: reader.ledgerId("runId"),
    toolCallId: reader.identifier("toolCallId"),
    toolName,
    arguments: disclosure.toolArguments(toolName, reader.raw("args")),
    phase: typeof phase === "string" && PHASES.has(phase) ? (phase as RejectionPhase) : undefined,
    rejectionKind: claim.code("rejectionKind"),
    reason: reason === undefined ? undefined : disclosure.summary(reason, "rejection"),
  });
}
