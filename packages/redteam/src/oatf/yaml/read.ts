import { setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import type { Document, Node, Scalar, YAMLMap } from "yaml";
import type { OatfLimits } from "../limits.js";
import type { ParseError } from "../parse/parse-error.js";
import { composeYaml } from "./compose.js";
import { createSource, formatPath } from "./source.js";
import type { ChildOffsets, Path, Position, Source, YamlViolation } from "./source.js";

/** Plain data with its places, or what is wrong; forbidden YAML is reported in both cases. */
export type ReadResult =
  | { readonly value: JsonObject; readonly source: Source; readonly errors: readonly ParseError[] }
  | {
      readonly value?: never;
      readonly errors: readonly ParseError[];
      readonly violations: readonly YamlViolation[];
    };

/** Stops the conversion of a tree at a bound. */
class Refused extends Error {
  readonly error: ParseError;
  constructor(error: ParseError) {
    super(error.message);
    this.error = error;
  }
}

const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Reads one YAML 1.2 document into plain data. */
export function readYaml(text: string, limits: OatfLimits): ReadResult {
  const composed = composeYaml(text, limits);
  if (composed.document === undefined) return { errors: composed.errors, violations: [] };
  return convert(composed.document, composed.place, limits);
}

function convert(
  document: Document.Parsed,
  place: (offset: number) => Position,
  limits: OatfLimits,
): ReadResult {
  const errors: ParseError[] = [];
  const violations: YamlViolation[] = [];
  const offsets: ChildOffsets = new WeakMap();
  const active = new Set<Node>();
  let nodes = 0;

  const problem = (message: string, path: Path, node: Node | null): ParseError => ({
    kind: "syntax",
    message,
    path: formatPath(path),
    ...place(node?.range?.[0] ?? 0),
  });
  const refuse = (
    message: string,
    path: Path,
    node: Node | null,
    limit: [string, number],
  ): never => {
    throw new Refused({
      ...problem(message, path, node),
      limit: { name: limit[0], allowed: limit[1] },
    });
  };
  const forbid = (message: string, path: Path, node: Node): void => {
    if (violations.length < limits.maxErrors) {
      violations.push({ path, message, ...place(node.range?.[0] ?? 0) });
    }
  };

  const visit = (node: Node | null, path: Path): JsonValue => {
    nodes += 1;
    if (nodes > limits.maxNodes) {
      refuse(`more than ${limits.maxNodes} values`, path, node, ["maxNodes", limits.maxNodes]);
    }
    if (path.length > limits.maxDepth) {
      refuse(`nested deeper than ${limits.maxDepth}`, path, node, ["maxDepth", limits.maxDepth]);
    }
    if (node === null) return null;
    if (isAlias(node)) {
      forbid("aliases are not allowed", path, node);
      // Each look-up walks the tree; what lies beyond the reported ones is of no use to anybody.
      if (violations.length >= limits.maxErrors) return null;
      const target = node.resolve(document);
      if (target === undefined || active.has(target)) return null;
      return visit(target, path);
    }
    if ("anchor" in node && node.anchor !== undefined)
      forbid("anchors are not allowed", path, node);
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      forbid("custom tags are not allowed", path, node);
    }
    if (isScalar(node)) return scalar(node, path);
    active.add(node);
    const value = isSeq(node) ? list(node.items as (Node | null)[], path) : mapping(node, path);
    active.delete(node);
    return value;
  };

  const list = (items: readonly (Node | null)[], path: Path): JsonValue => {
    const children = new Map<string | number, number>();
    const value = items.map((item, index) => {
      if (item?.range) children.set(index, item.range[0]);
      return visit(item, [...path, index]);
    });
    offsets.set(value, children);
    return value;
  };

  const mapping = (node: Node, path: Path): JsonValue => {
    const object: JsonObject = {};
    if (!isMap(node)) {
      errors.push(problem("not a YAML value", path, node));
      return object;
    }
    const children = new Map<string | number, number>();
    offsets.set(object, children);
    for (const pair of (node as YAMLMap<Node | null, Node | null>).items) {
      const key = pair.key;
      if (!isScalar(key) || typeof key.value !== "string") {
        errors.push(problem("a key must be text", path, key));
        continue;
      }
      const name = key.value;
      const at = [...path, name];
      if (isMergeKey(key)) {
        forbid("merge keys are not allowed", at, key);
        continue;
      }
      if (key.anchor !== undefined) forbid("anchors are not allowed", at, key);
      if (Object.hasOwn(object, name)) {
        errors.push(problem("the same key appears twice", at, key));
        continue;
      }
      const place = isScalar(pair.value) && pair.value.source !== "" ? pair.value : key;
      children.set(name, place.range?.[0] ?? 0);
      setMember(object, name, visit(pair.value, at));
    }
    return object;
  };

  const scalar = (node: Scalar, path: Path): JsonValue => {
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    errors.push({ ...problem("not a JSON value", path, node), kind: "type_mismatch" });
    return null;
  };

  try {
    const root = document.contents as Node | null;
    const value = visit(root, []);
    if (
      errors.length === 0 &&
      (typeof value !== "object" || value === null || Array.isArray(value))
    ) {
      const message = value === null ? "the document is empty" : "a document is a mapping";
      const kind = value === null ? "syntax" : "type_mismatch";
      errors.push({ ...problem(message, [], root), kind });
    }
    if (errors.length > 0) return { errors: errors.slice(0, limits.maxErrors), violations };
    const object = value as JsonObject;
    return { value: object, source: createSource(object, offsets, place, violations), errors: [] };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { errors: [error.error], violations };
  }
}

/** YAML 1.1 merges under a plain `<<`; quoted, it is a key like any other. */
function isMergeKey(key: Scalar): boolean {
  return key.value === "<<" && (key.type === undefined || key.type === "PLAIN");
}
