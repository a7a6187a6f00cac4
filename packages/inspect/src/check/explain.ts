import type { CountersignError, JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import type { DialectNote } from "@countersign/wire/dialects";
import type { EnforceNote } from "@countersign/wire/enforce";
import type { RuleId } from "../rules/table.js";
import type { Place } from "./findings.js";

/** A rule and where it was broken; what the codes of the wire mean to a reader of reports. */
export type RuleMatch = { readonly rule: RuleId; readonly place: Place };

const SIMPLE: ReadonlyMap<string, RuleId> = new Map<string, RuleId>([
  ["ERR_JSON_SYNTAX", "json/syntax"],
  ["ERR_JSON_BOM", "json/syntax"],
  ["ERR_JSON_UTF8", "sse/utf8"],
  ["ERR_JSON_LONE_SURROGATE", "json/ambiguous"],
  ["ERR_JSON_DUPLICATE_KEY", "json/ambiguous"],
  ["ERR_JSON_UNSAFE_NUMBER", "json/ambiguous"],
  ["ERR_JSON_TOO_DEEP", "json/too-deep"],
  ["ERR_JSON_TOO_LARGE", "sse/too-large"],
  ["ERR_LIMIT_EXCEEDED", "sse/too-large"],
  ["ERR_SSE_UTF8", "sse/utf8"],
  ["ERR_ENFORCE_NOT_AN_EVENT", "event/not-an-event"],
  ["ERR_DIALECT_NOT_OBJECT", "event/not-an-event"],
  ["ERR_DIALECT_MIXED", "dialect/mixed"],
  ["ERR_DIALECT_FIELD", "event/malformed"],
  ["ERR_DIALECT_DOUBLE_SPELLING", "dialect/snake-case"],
  ["ERR_DIALECT_THINKING_NOT_OPEN", "reasoning/not-open"],
  ["ERR_DIALECT_ENVELOPE", "dialect/envelope"],
  ["ERR_CHUNK_FIRST_INCOMPLETE", "chunk/first-incomplete"],
  ["ERR_CHUNK_CONFLICT", "chunk/conflict"],
  ["ERR_CHUNK_AMBIGUOUS", "chunk/ambiguous"],
  ["ERR_PROTO_EMPTY_FRAME", "proto/empty-frame"],
]);

/** Maps an error of the wire package to a rule; a broken invariant is rethrown. */
export function explainError(error: unknown): RuleMatch {
  if (!isCountersignError(error)) throw error;
  if (isCountersignError(error, "ERR_ENFORCE_MALFORMED_VALUE")) return explainMalformed(error);
  const rule = SIMPLE.get(error.code);
  if (rule !== undefined) return { rule, place: { detail: error.message } };
  const fallback = error.code.startsWith("ERR_PROTO_") ? "proto/frame" : "limit/exceeded";
  return { rule: fallback, place: { detail: error.message } };
}

function explainMalformed(error: CountersignError<"ERR_ENFORCE_MALFORMED_VALUE">): RuleMatch {
  const { subject, path, expected, found } = error.facts;
  const place = { path, detail: `${subject}: expected ${expected}, found ${found}` };
  if (path.endsWith("/subagentRunId") && found === "null") {
    return { rule: "subagent/null-field", place };
  }
  if (subject.startsWith("SUBAGENT_")) {
    if (path.startsWith("/outcome")) return { rule: "subagent/outcome", place };
    if (found === "nothing") return { rule: "subagent/required-field", place };
  }
  const isId = /^\/messageId$|^\/(?:input\/)?messages\/\d+\/id$/.test(path);
  if (isId && found === "nothing") return { rule: "event/message-id", place };
  if (path === "/timestamp" && found !== "null") return { rule: "event/timestamp", place };
  return { rule: found === "null" ? "event/null-field" : "event/malformed", place };
}

/** Maps a removal from an event to a rule. */
export function explainNote(note: EnforceNote, type: string): RuleMatch | undefined {
  const place = { path: note.path };
  switch (note.kind) {
    case "unknownEvent":
      return { rule: "event/unknown-type", place: { detail: note.type } };
    case "unknownProperty":
      return { rule: "event/unknown-field", place };
    case "unknownMember":
      return type === "RUN_FINISHED" && note.path === "/outcome"
        ? { rule: "run/unknown-outcome", place }
        : { rule: "event/unknown-member", place };
    case "nullOmitted":
      return { rule: "event/null-forgiven", place };
    case "notesOmitted":
      return undefined;
  }
}

/** Maps a change by a translation to a rule; `forgiven` says whether the 1.0 client accepts the original. */
export function explainDialect(note: DialectNote, forgiven: () => boolean): RuleMatch | undefined {
  const place = { path: note.path, detail: note.message };
  switch (note.rule) {
    case "thinking-translated":
    case "thinking-title-lost":
      return { rule: "dialect/thinking", place };
    case "null-absent":
      if (note.path.endsWith("/subagentRunId")) return { rule: "subagent/null-field", place };
      return { rule: forgiven() ? "event/null-forgiven" : "event/null-field", place };
    case "snake-case":
      return { rule: "dialect/snake-case", place };
    case "timestamp-converted":
    case "timestamp-dropped":
      return { rule: "event/timestamp", place };
    case "binary-part-upgraded":
    case "binary-part-mirrored":
    case "binary-part-removed":
      return { rule: "dialect/binary-part", place };
    case "tool-content-serialised":
      return { rule: "dialect/tool-content", place };
    default:
      return undefined;
  }
}

/** The type of a value that may be an event. */
export function typeOf(value: JsonValue): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
  return typeof type === "string" ? type.slice(0, 64) : "";
}
