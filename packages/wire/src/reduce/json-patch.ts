import { CountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch, JsonPatchOperation } from "../model/patch.js";
import { parseIndex, parsePointer, reachesPrototype } from "./json-pointer.js";
import { equalJson, isContainer, measureJson, TOO_DEEP } from "./json-structure.js";

/** Bounds of a patch; a copy of a copy of a copy doubles a document with every operation. */
export type PatchLimits = {
  /** Operations in one patch. Default 10,000. */
  maxOperations: number;
  /** Logical size of the patched document (`measureJson`). Default 16 Mi. */
  maxSize: number;
  /** Containers inside containers. Default 64. */
  maxDepth: number;
};

/** Why a patch does not apply. */
export type PatchRefusal =
  | "bad-pointer"
  | "missing"
  | "not-a-container"
  | "bad-index"
  | "test-failed"
  | "prototype"
  | "into-itself";

/** The patched document, or the operation that did not apply; the input is never altered. */
export type PatchResult =
  | { applied: true; document: JsonValue; size: number }
  | { applied: false; operation: number; reason: PatchRefusal };

/** The bounds that hold unless others are given. */
export const DEFAULT_PATCH_LIMITS: PatchLimits = {
  maxOperations: 10_000,
  maxSize: 16 * 1024 * 1024,
  maxDepth: 64,
};

/**
 * Applies an RFC 6902 patch whole or not at all.
 *
 * Parts the patch does not touch are shared with the given document. A patch that does not apply is
 * a value; one that goes over a bound throws `ERR_PATCH_TOO_LARGE`, for a reader without that bound
 * would now see another document than we do. `knownSize` is the `size` of an earlier result.
 */
export function applyJsonPatch(
  document: JsonValue,
  patch: JsonPatch,
  limits: PatchLimits = DEFAULT_PATCH_LIMITS,
  knownSize?: number,
): PatchResult {
  const run = new PatchRun(document, limits, knownSize);
  if (patch.length > limits.maxOperations)
    throw run.tooLarge("maxOperations", limits.maxOperations);
  for (const operation of patch) {
    const reason = run.apply(operation);
    if (reason !== undefined) return { applied: false, operation: run.operation, reason };
    run.operation++;
  }
  return { applied: true, document: run.root, size: run.size };
}

type Container = JsonObject | JsonValue[];

class PatchRun {
  root: JsonValue;
  size: number;
  operation = 0;
  readonly #limits: PatchLimits;
  /** Containers made by this patch and held in one place only: these are altered, others copied. */
  #fresh = new Set<Container>();
  #work = 0;

  constructor(document: JsonValue, limits: PatchLimits, knownSize: number | undefined) {
    this.root = document;
    this.#limits = limits;
    this.size = knownSize ?? this.#measure(document, 0);
    this.#work = 0;
  }

  tooLarge(
    limit: "maxOperations" | "maxSize" | "maxDepth" | "maxWork",
    allowed: number,
  ): CountersignError {
    return new CountersignError("ERR_PATCH_TOO_LARGE", `JSON Patch exceeds ${limit}`, {
      limit,
      allowed,
      operation: this.operation,
    });
  }

  apply(operation: JsonPatchOperation): PatchRefusal | undefined {
    const path = parsePointer(operation.path);
    if (path === undefined) return "bad-pointer";
    if (reachesPrototype(path)) return "prototype";
    switch (operation.op) {
      case "add":
        return this.#add(path, operation.value);
      case "remove":
        return this.#remove(path);
      case "replace":
        return this.#replace(path, operation.value);
      case "test":
        return equalJson(this.#read(path), operation.value) ? undefined : "test-failed";
      case "move":
      case "copy":
        return this.#transfer(operation.op, path, operation.from);
    }
  }

  #transfer(op: "move" | "copy", path: string[], pointer: string): PatchRefusal | undefined {
    const from = parsePointer(pointer);
    if (from === undefined) return "bad-pointer";
    if (reachesPrototype(from)) return "prototype";
    const value = this.#read(from);
    if (value === undefined) return "missing";
    if (op === "copy") {
      // From here on the value is in two places: nothing inside may be altered without a copy.
      this.#fresh = new Set();
      return this.#add(path, value);
    }
    if (from.length <= path.length && from.every((token, index) => token === path[index])) {
      return from.length === path.length ? undefined : "into-itself";
    }
    return this.#remove(from) ?? this.#add(path, value);
  }

  #read(path: readonly string[]): JsonValue | undefined {
    let value: JsonValue | undefined = this.root;
    for (const token of path) value = memberOf(value, token);
    return value;
  }

  #add(path: readonly string[], value: JsonValue): PatchRefusal | undefined {
    const last = path.at(-1);
    if (last === undefined) return this.#setRoot(value);
    const parent = this.#writableParent(path);
    if (typeof parent === "string") return parent;
    if (Array.isArray(parent)) {
      const index = last === "-" ? parent.length : parseIndex(last);
      if (index === undefined || index > parent.length) return "bad-index";
      this.#spend(parent.length - index);
      parent.splice(index, 0, value);
    } else {
      if (Object.hasOwn(parent, last)) this.#shrink(parent[last], last.length);
      parent[last] = value;
      this.size += last.length;
    }
    return this.#grow(value, path.length);
  }

  #replace(path: readonly string[], value: JsonValue): PatchRefusal | undefined {
    const last = path.at(-1);
    if (last === undefined) return this.#setRoot(value);
    const parent = this.#writableParent(path);
    if (typeof parent === "string") return parent;
    const previous = memberOf(parent, last);
    if (previous === undefined) return "missing";
    this.#shrink(previous, 0);
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else parent[last] = value;
    return this.#grow(value, path.length);
  }

  #remove(path: readonly string[]): PatchRefusal | undefined {
    const last = path.at(-1);
    if (last === undefined) return this.#setRoot(null);
    const parent = this.#writableParent(path);
    if (typeof parent === "string") return parent;
    const previous = memberOf(parent, last);
    if (previous === undefined) return "missing";
    if (Array.isArray(parent)) {
      this.#spend(parent.length - Number(last));
      parent.splice(Number(last), 1);
      this.#shrink(previous, 0);
    } else {
      delete parent[last];
      this.#shrink(previous, last.length);
    }
    return undefined;
  }

  #setRoot(value: JsonValue): undefined {
    this.root = value;
    this.size = 0;
    return this.#grow(value, 0);
  }

  /** The container that holds the last token, with every container on the way made writable. */
  #writableParent(path: readonly string[]): Container | PatchRefusal {
    if (!isContainer(this.root)) return "not-a-container";
    let node = this.#writable(this.root);
    this.root = node;
    for (const token of path.slice(0, -1)) {
      const child = memberOf(node, token);
      if (child === undefined) return "missing";
      if (!isContainer(child)) return "not-a-container";
      const writable = this.#writable(child);
      if (Array.isArray(node)) node[Number(token)] = writable;
      else node[token] = writable;
      node = writable;
    }
    return node;
  }

  #writable(container: Container): Container {
    if (this.#fresh.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#spend(Array.isArray(copy) ? copy.length : Object.keys(copy).length);
    this.#fresh.add(copy);
    return copy;
  }

  #grow(value: JsonValue, depth: number): undefined {
    this.size += this.#measure(value, depth);
    if (this.size > this.#limits.maxSize) throw this.tooLarge("maxSize", this.#limits.maxSize);
  }

  #shrink(value: JsonValue | undefined, keyLength: number): void {
    this.size -= this.#measure(value ?? null, 0) + keyLength;
  }

  #measure(value: JsonValue, depth: number): number {
    const size = measureJson(value, this.#limits.maxDepth - depth);
    if (size === TOO_DEEP) throw this.tooLarge("maxDepth", this.#limits.maxDepth);
    this.#spend(size >> 3);
    return size;
  }

  /** A short patch may not buy unbounded copying: eight characters of document cost one unit. */
  #spend(work: number): void {
    this.#work += work;
    if (this.#work > this.#limits.maxSize) throw this.tooLarge("maxWork", this.#limits.maxSize);
  }
}

function memberOf(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    const index = parseIndex(token);
    return index === undefined ? undefined : value[index];
  }
  if (!isContainer(value) || !Object.hasOwn(value, token)) return undefined;
  return value[token];
}
