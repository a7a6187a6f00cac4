import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import type { Alias, Document, Node, Scalar, YAMLMap } from "yaml";
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
  const conversion = new Conversion(composed.document, composed.place, limits);
  try {
    return conversion.result();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { errors: [error.error], violations: conversion.violations };
  }
}

/** The way of one YAML tree into plain data, with what was wrong on it. */
class Conversion {
  readonly violations: YamlViolation[] = [];
  readonly #errors: ParseError[] = [];
  readonly #offsets: ChildOffsets = new WeakMap();
  /** The nodes above the one that is converted: an alias of one of them would never end. */
  readonly #above = new Set<Node>();
  readonly #document: Document.Parsed;
  readonly #place: (offset: number) => Position;
  readonly #limits: OatfLimits;
  #nodes = 0;

  constructor(document: Document.Parsed, place: (offset: number) => Position, limits: OatfLimits) {
    this.#document = document;
    this.#place = place;
    this.#limits = limits;
  }

  result(): ReadResult {
    const errors = this.#errors;
    const root = this.#document.contents as Node | null;
    const value = this.#value(root, []);
    if (isJsonObject(value) && errors.length === 0) {
      const source = createSource(value, this.#offsets, this.#place, this.violations);
      return { value, source, errors };
    }
    if (errors.length === 0) {
      const isEmpty = value === null;
      const message = isEmpty ? "the document is empty" : "a document is a mapping";
      const kind = isEmpty ? "syntax" : "type_mismatch";
      errors.push({ ...this.#problem(message, [], root), kind });
    }
    return { errors: errors.slice(0, this.#limits.maxErrors), violations: this.violations };
  }

  #value(node: Node | null, path: Path): JsonValue {
    this.#nodes += 1;
    this.#assertWithin("maxNodes", this.#nodes, (most) => `more than ${most} values`, path, node);
    this.#assertWithin("maxDepth", path.length, (most) => `nested deeper than ${most}`, path, node);
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node, path);
    if ("anchor" in node && node.anchor !== undefined) {
      this.#forbid("anchors are not allowed", path, node);
    }
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      this.#forbid("custom tags are not allowed", path, node);
    }
    if (isScalar(node)) return this.#scalar(node, path);
    this.#above.add(node);
    const value = isSeq(node)
      ? this.#list(node.items as (Node | null)[], path)
      : this.#mapping(node, path);
    this.#above.delete(node);
    return value;
  }

  #alias(node: Alias, path: Path): JsonValue {
    this.#forbid("aliases are not allowed", path, node);
    // Each look-up walks the tree, so only reported positions are looked up.
    if (this.violations.length >= this.#limits.maxErrors) return null;
    const target = node.resolve(this.#document);
    return target === undefined || this.#above.has(target) ? null : this.#value(target, path);
  }

  #list(items: readonly (Node | null)[], path: Path): JsonValue {
    const children = new Map<string | number, number>();
    const value = items.map((item, index) => {
      if (item?.range) children.set(index, item.range[0]);
      return this.#value(item, [...path, index]);
    });
    this.#offsets.set(value, children);
    return value;
  }

  #mapping(node: Node, path: Path): JsonValue {
    const object: JsonObject = {};
    if (!isMap(node)) {
      this.#errors.push(this.#problem("not a YAML value", path, node));
      return object;
    }
    const children = new Map<string | number, number>();
    this.#offsets.set(object, children);
    for (const { key, value } of (node as YAMLMap<Node | null, Node | null>).items) {
      const name = this.#key(key, object, path);
      if (name === undefined) continue;
      const place = isScalar(value) && value.source !== "" ? value : key;
      children.set(name, place?.range?.[0] ?? 0);
      setMember(object, name, this.#value(value, [...path, name]));
    }
    return object;
  }

  /** The name of a member that may be read; of any other it is told why not. */
  #key(key: Node | null, object: JsonObject, path: Path): string | undefined {
    if (!isScalar(key) || typeof key.value !== "string") {
      this.#errors.push(this.#problem("a key must be text", path, key));
      return undefined;
    }
    const name = key.value;
    const at = [...path, name];
    if (isMergeKey(key)) {
      this.#forbid("merge keys are not allowed", at, key);
      return undefined;
    }
    if (key.anchor !== undefined) this.#forbid("anchors are not allowed", at, key);
    if (!Object.hasOwn(object, name)) return name;
    this.#errors.push(this.#problem("the same key appears twice", at, key));
    return undefined;
  }

  #scalar(node: Scalar, path: Path): JsonValue {
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    this.#errors.push({ ...this.#problem("not a JSON value", path, node), kind: "type_mismatch" });
    return null;
  }

  #assertWithin(
    name: "maxNodes" | "maxDepth",
    count: number,
    message: (allowed: number) => string,
    path: Path,
    node: Node | null,
  ): void {
    const allowed = this.#limits[name];
    if (count <= allowed) return;
    throw new Refused({
      ...this.#problem(message(allowed), path, node),
      limit: { name, allowed },
    });
  }

  #forbid(message: string, path: Path, node: Node): void {
    if (this.violations.length >= this.#limits.maxErrors) return;
    this.violations.push({ path, message, ...this.#place(node.range?.[0] ?? 0) });
  }

  #problem(message: string, path: Path, node: Node | null): ParseError {
    return {
      kind: "syntax",
      message,
      path: formatPath(path),
      ...this.#place(node?.range?.[0] ?? 0),
    };
  }
}

/** YAML 1.1 merges under a plain `<<`; quoted, it is a key like any other. */
function isMergeKey(key: Scalar): boolean {
  return key.value === "<<" && (key.type === undefined || key.type === "PLAIN");
}
