import type { JsonObject, JsonValue } from "@countersign/core";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node } from "yaml";
import type { PolicyIssue } from "./issue.js";
import type { PolicyLimits } from "./limits.js";
import { estimateNesting, estimateWork } from "./nesting.js";
import type { Position, PositionTable } from "./source.js";
import { childPointer, issueAt, START } from "./source.js";

/** A YAML file as plain data with all positions. */
export type ReadResult =
  | { readonly value: JsonObject; readonly positions: PositionTable; readonly issues: readonly [] }
  | { readonly value: undefined; readonly issues: readonly PolicyIssue[] };

/** Stops the conversion at the first value that is not plain, bounded data. */
class Refused extends Error {
  readonly issue: PolicyIssue;
  constructor(issue: PolicyIssue) {
    super(issue.message);
    this.issue = issue;
  }
}

/**
 * Reads YAML 1.2 (or JSON) strictly: one document, string keys, no tags, no directives, bounded
 * aliases.
 */
export function readYaml(text: string, file: string, limits: PolicyLimits): ReadResult {
  const empty: PositionTable = { file, values: new Map(), keys: new Map() };
  const refuse = (code: "limit" | "syntax", message: string, place: Position = START) => ({
    value: undefined,
    issues: [{ ...issueAt(empty, "", code, message), ...place }],
  });
  if (text.length > limits.maxTextLength) {
    return refuse("limit", `the file is longer than ${limits.maxTextLength} characters`);
  }
  // Each mapping inside a list item adds one level of indentation to the depth of the data.
  if (estimateNesting(text) > limits.maxDepth * 2) {
    return refuse("limit", `the file is nested deeper than ${limits.maxDepth} levels`);
  }
  const work = estimateWork(text);
  if (work.values > limits.maxNodes || work.marks > limits.maxNodes * 3) {
    return refuse("limit", `the file holds more than ${limits.maxNodes} lines or entries`);
  }
  const lines = new LineCounter();
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      version: "1.2",
      schema: "core",
      merge: false,
      // The library compares every pair of keys (20 s for 20,000 of them); `mapping` below uses a
      // lookup.
      uniqueKeys: false,
      strict: true,
      prettyErrors: false,
      stringKeys: true,
    });
  } catch (error) {
    if (error instanceof RangeError) return refuse("limit", "the file is nested too deeply");
    throw error;
  }
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    return {
      value: undefined,
      issues: problems.slice(0, limits.maxIssues).map((problem) => ({
        ...issueAt(empty, "", "syntax", problem.message),
        ...place(lines, problem.pos[0]),
      })),
    };
  }
  if (document.directives.yaml.explicit === true || text.startsWith("%")) {
    return refuse("syntax", "directives are not allowed in a policy");
  }
  return convert(document, lines, file, limits);
}

function place(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function convert(
  document: Document.Parsed,
  lines: LineCounter,
  file: string,
  limits: PolicyLimits,
): ReadResult {
  const values = new Map<string, Position>();
  const keys = new Map<string, Position>();
  const positions: PositionTable = { file, values, keys };
  const active = new Set<Node>();
  let nodes = 0;
  let aliases = 0;

  const refuse = (
    node: Node | null,
    pointer: string,
    code: "limit" | "syntax",
    message: string,
  ): never => {
    const issue = issueAt(positions, pointer, code, message);
    const offset = node?.range?.[0];
    throw new Refused(offset === undefined ? issue : { ...issue, ...place(lines, offset) });
  };

  const visit = (node: Node | null, pointer: string, depth: number): JsonValue => {
    nodes += 1;
    if (nodes > limits.maxNodes) {
      return refuse(node, pointer, "limit", `the file holds more than ${limits.maxNodes} values`);
    }
    if (depth > limits.maxDepth) {
      return refuse(node, pointer, "limit", `nested deeper than ${limits.maxDepth} levels`);
    }
    if (node === null) return null;
    const offset = node.range?.[0];
    if (offset !== undefined && !values.has(pointer)) values.set(pointer, place(lines, offset));
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > limits.maxAliases) {
        return refuse(node, pointer, "limit", `more than ${limits.maxAliases} aliases are used`);
      }
      const target = node.resolve(document);
      if (target === undefined) return refuse(node, pointer, "syntax", "unknown alias");
      if (active.has(target)) return refuse(node, pointer, "syntax", "an alias contains itself");
      return visit(target, pointer, depth);
    }
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      return refuse(node, pointer, "syntax", "tags are not allowed in a policy");
    }
    if (isScalar(node)) return scalar(node.value, node, pointer);
    active.add(node);
    const result = isSeq(node)
      ? node.items.map((item, index) =>
          visit(item as Node | null, childPointer(pointer, index), depth + 1),
        )
      : mapping(node, pointer, depth);
    active.delete(node);
    return result;
  };

  const mapping = (node: Node, pointer: string, depth: number): JsonValue => {
    if (!isMap(node)) return refuse(node, pointer, "syntax", "not a YAML value");
    const object: JsonObject = {};
    for (const pair of node.items) {
      const keyNode = pair.key as Node | null;
      if (!isScalar(keyNode) || typeof keyNode.value !== "string") {
        return refuse(keyNode, pointer, "syntax", "keys must be strings");
      }
      const key = keyNode.value;
      // The one name that would set a prototype instead of a member.
      if (key === "__proto__") return refuse(keyNode, pointer, "syntax", "this key is not allowed");
      if (Object.hasOwn(object, key)) {
        return refuse(keyNode, pointer, "syntax", "the same key appears twice");
      }
      const child = childPointer(pointer, key);
      const keyOffset = keyNode.range?.[0];
      if (keyOffset !== undefined) keys.set(child, place(lines, keyOffset));
      object[key] = visit(pair.value as Node | null, child, depth + 1);
    }
    return object;
  };

  const scalar = (value: unknown, node: Node, pointer: string): JsonValue => {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    return refuse(node, pointer, "syntax", "not a plain value");
  };

  try {
    const value = visit(document.contents, "", 0);
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return refuse(
        document.contents,
        "",
        "syntax",
        "the document must be a mapping of keys to values",
      );
    }
    return { value, positions, issues: [] };
  } catch (error) {
    if (error instanceof Refused) return { value: undefined, issues: [error.issue] };
    throw error;
  }
}

const PLAIN_TAGS: ReadonlySet<string> = new Set([
  "tag:yaml.org,2002:map",
  "tag:yaml.org,2002:seq",
  "tag:yaml.org,2002:str",
  "tag:yaml.org,2002:int",
  "tag:yaml.org,2002:float",
  "tag:yaml.org,2002:bool",
  "tag:yaml.org,2002:null",
]);
