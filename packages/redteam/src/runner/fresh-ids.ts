import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { EXECUTION_IDS } from "./request.js";
import type { NormalizedDocument } from "../oatf/index.js";

const ID_KEYS: ReadonlySet<string> = new Set([
  "threadId",
  "runId",
  "parentRunId",
  "thread_id",
  "run_id",
  "parent_run_id",
]);
const ID_IN_TEXT =
  /"(?:threadId|runId|parentRunId|thread_id|run_id|parent_run_id)"\s*:\s*"([^"\\{}]+)"/g;
const ID_TARGET = /(?:^|\.)(?:threadId|runId|parentRunId)$/;
/** Members of a phase or an action that hold what is sent. */
const SENT = ["run_agent_input", "params"] as const;

/** A document for one execution, and the ids that it replaced. */
export type FreshDocument = {
  readonly document: NormalizedDocument;
  readonly replaced: ReadonlyMap<string, string>;
};

/** Whether the ids of a document are part of the attack, so that they are sent as they are written. */
export function keepsIds({ attack }: NormalizedDocument): boolean {
  return ownMember(attack.execution, EXECUTION_IDS) === "as_written";
}

/**
 * Gives the thread and run ids that a document writes out a suffix of this execution: a target that remembers the
 * last execution would refuse the second one, whatever it holds. The same id gets the same suffix in every actor, in
 * bodies and headers, and where an indicator compares with it.
 */
export function withFreshIds(document: NormalizedDocument): FreshDocument {
  const replaced = new Map<string, string>();
  if (keepsIds(document)) return { document, replaced };
  const suffix = randomUUID().slice(0, 8);
  collect(document.attack.execution as unknown as JsonValue, false, (id) =>
    replaced.set(id, `${id}-${suffix}`),
  );
  if (replaced.size === 0) return { document, replaced };
  const { attack } = document;
  const execution = rename(attack.execution as unknown as JsonValue, replaced);
  const indicators = attack.indicators?.map((indicator) => {
    const { pattern, expression } = indicator;
    const isId = pattern !== undefined && ID_TARGET.test(pattern.target ?? indicator.target);
    return {
      ...indicator,
      ...(pattern === undefined
        ? {}
        : { pattern: { ...pattern, condition: rename(pattern.condition, replaced, isId) } }),
      ...(expression === undefined
        ? {}
        : { expression: { ...expression, cel: renameLiterals(expression.cel, replaced) } }),
    };
  });
  return {
    document: {
      ...document,
      attack: {
        ...attack,
        execution: execution as unknown as typeof attack.execution,
        ...(indicators === undefined ? {} : { indicators }),
      },
    },
    replaced,
  };
}

/** Finds the ids that are sent; an id with a template in it is made at the time of sending. */
function collect(value: JsonValue, isSent: boolean, found: (id: string) => void): void {
  if (Array.isArray(value)) for (const item of value) collect(item, isSent, found);
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === "string" && key === "x-countersign-body") {
      for (const [, id] of member.matchAll(ID_IN_TEXT)) if (id !== undefined) found(id);
    } else if (typeof member === "string") {
      if (isSent && ID_KEYS.has(key) && member !== "" && !member.includes("{{")) found(member);
    } else collect(member, isSent || SENT.some((name) => name === key), found);
  }
}

/**
 * Replaces ids in every text of a value. An id that could be an ordinary word (`pay`) is replaced where it stands as
 * an id only, so that nothing else of the document changes.
 */
function rename(value: JsonValue, ids: ReadonlyMap<string, string>, isId = false): JsonValue {
  if (typeof value === "string") {
    const exact = isId ? ids.get(value) : undefined;
    return exact ?? renameInText(value, ids);
  }
  if (Array.isArray(value)) return value.map((item) => rename(item, ids, isId));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    setMember(copy, key, rename(member, ids, isId || ID_KEYS.has(key)));
  }
  return copy;
}

function renameInText(text: string, ids: ReadonlyMap<string, string>): string {
  const inBody = text.replaceAll(ID_IN_TEXT, (member, id: string) =>
    ids.has(id) ? `${member.slice(0, -id.length - 1)}${ids.get(id) ?? id}"` : member,
  );
  // A word of an id: letters, digits and what joins them. Those that are made of letters alone may be plain words.
  return inBody.replaceAll(/[\w.:-]*[\w]/g, (word) =>
    /[^A-Za-z]/.test(word) && word.length >= 4 ? (ids.get(word) ?? word) : word,
  );
}

/** Replaces the text constants of a CEL expression that are ids. */
function renameLiterals(source: string, ids: ReadonlyMap<string, string>): string {
  const readsIds = /\b(?:threadId|runId|parentRunId)\b/.test(source);
  return source.replaceAll(/(["'])([^"'\\]*)\1/g, (literal, quote: string, text: string) => {
    const fresh = readsIds ? (ids.get(text) ?? renameInText(text, ids)) : renameInText(text, ids);
    return fresh === text ? literal : `${quote}${fresh}${quote}`;
  });
}
