import { CountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch, JsonPatchOperation } from "../model/event.js";
import { equalJson, isContainer, measureJson, TOO_DEEP } from "./json-structure.js";

/** The tokens of an RFC 6901 pointer, or nothing if it is not one. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/u.test(pointer)) return undefined;
  const tokens = pointer.slice(1).split("/");
  return pointer.includes("~")
    ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    : tokens;
}

/** Whether a pointer reaches for a prototype: `__proto__` anywhere, or `constructor/prototype`. */
export function reachesPrototype(tokens: readonly string[]): boolean {
  return tokens.some(
    (token, index) =>
      token === "__proto__" || (token === "prototype" && tokens[index - 1] === "constructor"),
  );
}

/** An array index as RFC 6901 writes it: no sign, no leading zero; nothing otherwise. */
export function parseIndex(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/u.test(token) ? Number(token) : undefined;
}

/** Bounds of a patch; a copy of a copy of a copy doubles a document with every operation. */
export type PatchLimits = {
  /** Operations in one patch. Default 10,000. */
  maxOperations: number;
  /** Logical size of the patched document (`measureJson`). Default 16 Mi. */
  maxSize: number;
  /** Containers inside containers. Default 64. */
  maxDepth: number;
  /** Values measured and copied for one patch, sixteen places of a list as one. Default: as many as `maxSize`. */
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
  /** Undoes the changes of the current patch, so that a failed patch changes nothing. */
  #undo: (() => void)[] | undefined;
  /** Whether the patch at hand has copied a value: a container that it altered before may be copied again. */
  #hasShared = false;
  #work = 0;
  readonly #spendOne = (): void => this.#spend(1);

  constructor(document: JsonValue, limits: PatchLimits, knownSize: number | undefined) {
    this.root = document;
    this.#limits = limits;
    this.size = knownSize ?? this.#measure(document, 0, () => {});
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
    const { size } = this;
    const undo: (() => void)[] = [];
    this.#undo = undo;
    this.#hasShared = false;
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
      const size = this.#measure(value, path.length);
      // From here on the value is in two places: nothing inside may be altered without a copy.
      this.#hasShared = true;
      this.#share(value);
      return this.#add(path, value, size);
    }
    if (from.length <= path.length && from.every((token, index) => token === path[index])) {
      return from.length === path.length ? undefined : "into-itself";
    }
    // A value that moves leaves the document as large as it was. Only one that moves down can become too deep.
    const size = path.length > from.length ? this.#measure(value, path.length) : 0;
    return this.#remove(from, size) ?? this.#add(path, value, size);
  }

  #read(path: readonly string[]): JsonValue | undefined {
    let value: JsonValue | undefined = this.root;
    for (const token of path) value = memberOf(value, token);
    return value;
  }

  /** @param size of the value, where it is known */
  #add(path: readonly string[], value: JsonValue, size?: number): PatchRefusal | undefined {
    const last = path.at(-1);
    if (last === undefined) return this.#setRoot(value);
    const parent = this.#writableParent(path);
    if (typeof parent === "string") return parent;
    if (Array.isArray(parent)) {
      const index = last === "-" ? parent.length : parseIndex(last);
      if (index === undefined || index > parent.length) return "bad-index";
      this.#spendPlaces(parent.length - index);
      parent.splice(index, 0, value);
      this.#undo?.push(() => parent.splice(index, 1));
    } else {
      if (Object.hasOwn(parent, last)) this.#shrink(parent[last], last.length);
      this.#set(parent, last, value);
      this.size += last.length;
    }
    return this.#grow(value, path.length, size);
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

  /** @param size of the value there, where it is known */
  #remove(path: readonly string[], size?: number): PatchRefusal | undefined {
    const last = path.at(-1);
    if (last === undefined) return this.#setRoot(null);
    const parent = this.#writableParent(path);
    if (typeof parent === "string") return parent;
    const previous = memberOf(parent, last);
    if (previous === undefined) return "missing";
    if (Array.isArray(parent)) {
      this.#spendPlaces(parent.length - Number(last));
      const index = Number(last);
      parent.splice(index, 1);
      this.#undo?.push(() => parent.splice(index, 0, previous));
      this.#shrink(previous, 0, size);
    } else {
      delete parent[last];
      this.#undo?.push(() => (parent[last] = previous));
      this.#shrink(previous, last.length, size);
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
    const previous = this.root;
    this.#undo?.push(() => (this.root = previous));
    this.root = value;
    this.size = 0;
    return this.#grow(value, 0);
  }

  /** The container that holds the last token, with every container on the way made writable. */
  #writableParent(path: readonly string[]): Container | PatchRefusal {
    const { root } = this;
    if (!isContainer(root)) return "not-a-container";
    let node = this.#writable(root);
    if (this.#hasShared) this.#undo?.push(() => (this.root = root));
    this.root = node;
    for (const token of path.slice(0, -1)) {
      const child = memberOf(node, token);
      if (child === undefined) return "missing";
      if (!isContainer(child)) return "not-a-container";
      const writable = this.#writable(child);
      const parent = node;
      if (writable !== child) {
        // A copy of what this patch did not alter may stay where the patch is taken back.
        if (this.#hasShared) this.#undo?.push(() => put(parent, token, child));
        put(parent, token, writable);
      }
      node = writable;
    }
    return node;
  }

  #writable(container: Container): Container {
    if (this.#fresh.has(container)) return container;
    if (Array.isArray(container)) this.#spendPlaces(container.length);
    else this.#spend(Object.keys(container).length);
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#fresh.add(copy);
    return copy;
  }

  #grow(value: JsonValue, depth: number, size?: number): undefined {
    this.size += size ?? this.#measure(value, depth);
    if (this.size > this.#limits.maxSize) throw this.tooLarge("maxSize", this.#limits.maxSize);
  }

  #shrink(value: JsonValue | undefined, keyLength: number, size?: number): void {
    this.size -= (size ?? this.#measure(value ?? null, 0)) + keyLength;
  }

  #measure(value: JsonValue, depth: number, visit = this.#spendOne): number {
    const size = measureJson(value, this.#limits.maxDepth - depth, visit);
    if (size === TOO_DEEP) throw this.tooLarge("maxDepth", this.#limits.maxDepth);
    return size;
  }

  /** Places of a list are copied and shifted as one block of memory. */
  #spendPlaces(places: number): void {
    this.#spend(places >> 4);
  }

  /** A short patch may not buy unbounded work. */
  #spend(work: number): void {
    this.#work += work;
    const { maxWork = this.#limits.maxSize } = this.#limits;
    if (this.#work > maxWork) throw this.tooLarge("maxWork", maxWork);
  }
}

function put(parent: Container, token: string, value: JsonValue): void {
  if (Array.isArray(parent)) parent[Number(token)] = value;
  else parent[token] = value;
}

function memberOf(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    const index = parseIndex(token);
    return index === undefined ? undefined : value[index];
  }
  if (!isContainer(value) || !Object.hasOwn(value, token)) return undefined;
  return value[token];
}
