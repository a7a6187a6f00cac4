import type { JsonObject } from "@countersign/core";
import { compact } from "../payload-reader.js";
import type { PayloadReader } from "../payload-reader.js";

/** A run whose last turn executed its tools. */
export type SafeCompletedAfterTools = {
  runId: number;
  turnIndex: number;
  toolNames: string[];
  tokensUsed: number;
};

/** Only the names of the tools are shown. */
export function readCompletedAfterTools(reader: PayloadReader): SafeCompletedAfterTools {
  return {
    runId: reader.ledgerId("runId"),
    turnIndex: reader.object("turn").count("index"),
    toolNames: reader.identifiers("toolNames"),
    tokensUsed: reader.count("tokensUsed"),
  };
}

/** References only; the history itself stays inside. */
export function readHistoryCompacted(reader: PayloadReader): JsonObject {
  return compact({
    sourceRef: reader.identifier("sourceRef"),
    summaryRef: reader.identifier("summaryRef"),
    target: reader.code("target"),
    strategy: reader.code("strategy"),
    sourceTokens: reader.optionalCount("sourceTokens"),
    summaryTokens: reader.optionalCount("summaryTokens"),
  }) as JsonObject;
}

/** References to keys only. */
export function readRekeyed(reader: PayloadReader): JsonObject {
  return compact({
    fromKeyRef: reader.identifier("fromKeyRef"),
    toKeyRef: reader.identifier("toKeyRef"),
    purpose: reader.code("purpose"),
  }) as JsonObject;
}
