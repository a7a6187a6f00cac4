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
  /** Values read and copied for one patch, eight characters as one. Default: as many as `maxSize`. */
  maxWork?: number;
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

/**
 * A document that follows one patch after the other.
 *
 * Patches alter it in place: a container is copied when the first of them reaches it, and not again. So a patch
 * of fifty bytes costs no copy of a large document. Values that were handed in are never altered.
 */
export class PatchedDocument {
  readonly #run: PatchRun;

  /** @throws ERR_PATCH_TOO_LARGE when the document is beyond a bound itself */
  constructor(document: JsonValue, limits: PatchLimits = DEFAULT_PATCH_LIMITS) {
    this.#run = new PatchRun(document, limits, undefined);
    if (this.#run.size > limits.maxSize) throw this.#run.tooLarge("maxSize", limits.maxSize);
  }

  /** The document as it is now; the next patch may alter it. */
  get value(): JsonValue {
    return this.#run.root;
  }

  /** Applies a patch whole or not at all, as `applyJsonPatch` does; says why it does not apply. */
  apply(patch: JsonPatch): PatchRefusal | undefined {
    return this.#run.applyAll(patch, true);
  }

  /** Why a patch would not apply; the document stays as it is. */
  refusalOf(patch: JsonPatch): PatchRefusal | undefined {
    return this.#run.applyAll(patch, false);
  }
}

type Container = JsonObject | JsonValue[];

class PatchRun {
  root: JsonValue;
  size: number;
  operation = 0;
  readonly #limits: PatchLimits;
  /** Containers made here and held in one place only: these are altered, others copied. */
  readonly #fresh = new WeakSet<Container>();
  /** What takes back the changes of the patch at hand, where a patch that fails must leave nothing. */
  #undo: (() => void)[] | undefined;
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

  /** Applies a whole patch, or takes back what was applied of it. */
  applyAll(patch: JsonPatch, isKept: boolean): PatchRefusal | undefined {
    const { root, size } = this;
    const undo: (() => void)[] = [];
    this.#undo = undo;
    this.#work = 0;
    this.operation = 0;
    let isWhole = false;
    try {
      if (patch.length > this.#limits.maxOperations) {
        throw this.tooLarge("maxOperations", this.#limits.maxOperations);
      }
      for (const operation of patch) {
        const reason = this.apply(operation);
        if (reason !== undefined) return reason;
        this.operation++;
      }
      isWhole = isKept;
      return undefined;
    } finally {
      if (!isWhole) {
        for (const takeBack of undo.toReversed()) takeBack();
        this.root = root;
        this.size = size;
      }
      this.#undo = undefined;
    }
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
      this.#share(value);
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
      this.#undo?.push(() => parent.splice(index, 1));
    } else {
      if (Object.hasOwn(parent, last)) this.#shrink(parent[last], last.length);
      this.#set(parent, last, value);
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
    if (Array.isArray(parent)) {
      const index = Number(last);
      parent[index] = value;
      this.#undo?.push(() => (parent[index] = previous));
    } else this.#set(parent, last, value);
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
      const index = Number(last);
      parent.splice(index, 1);
      this.#undo?.push(() => parent.splice(index, 0, previous));
      this.#shrink(previous, 0);
    } else {
      delete parent[last];
      this.#undo?.push(() => (parent[last] = previous));
      this.#shrink(previous, last.length);
    }
    return undefined;
  }

  #set(parent: JsonObject, key: string, value: JsonValue): void {
    if (this.#undo !== undefined) {
      const previous = Object.hasOwn(parent, key) ? parent[key] : undefined;
      this.#undo.push(() => {
        if (previous === undefined) delete parent[key];
        else parent[key] = previous;
      });
    }
    parent[key] = value;
  }

  #share(value: JsonValue): void {
    if (!isContainer(value)) return;
    this.#fresh.delete(value);
    for (const part of Object.values(value)) this.#share(part);
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
    const { maxWork = this.#limits.maxSize } = this.#limits;
    if (this.#work > maxWork) throw this.tooLarge("maxWork", maxWork);
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
