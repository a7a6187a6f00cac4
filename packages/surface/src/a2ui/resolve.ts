import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { SurfaceFunctionCall, SurfaceLimits } from "../base/facts.js";
import { named } from "../base/problems.js";
import type { Problems } from "../base/problems.js";
import type { Work } from "../base/work.js";
import { dataSegments, measure } from "./data-model.js";
import type { DataModel } from "./data-model.js";
import { ExpressionError, parseFormatString } from "./expression.js";
import { callerOf, computeFunction, isBasicFunction, shownAs } from "./functions.js";

/** A value after bindings and functions. */
export interface Resolved {
  readonly value: JsonValue | undefined;
  /** Absolute data paths that it is made of. */
  readonly paths: readonly string[];
  /** Texts of functions that may be shown in its place: alternatives of a plural, a date pattern. */
  readonly alternatives: readonly string[];
  readonly isExact: boolean;
}

/** The parts of a surface that resolve the values of one drawn component. */
export interface Scope {
  readonly data: DataModel;
  /** Data path of the list item; `/` outside templates. */
  readonly path: string;
  readonly isLegacy: boolean;
  readonly limits: SurfaceLimits;
  readonly problems: Problems;
  readonly work: Work;
  readonly surfaceId: string;
  readonly place: string;
  /** Whether the surface has a component of this id. */
  isComponent(id: string): boolean;
  /** Data paths that an input changes. */
  isInputPath(path: string): boolean;
}

type Trace = { paths: Set<string>; alternatives: string[]; isExact: boolean };

/** A data path as renderers resolve it: absolute, or relative to the list item. */
export function absolutePath(path: string, scope: string, isLegacy: boolean): string {
  if (isLegacy) return legacyPath(path, scope);
  if (path.startsWith("/")) return path;
  if (path === "" || path === ".") return scope;
  const base = scope.length > 1 && scope.endsWith("/") ? scope.slice(0, -1) : scope;
  return `${base === "/" ? "" : base}/${path}`;
}

/** In a template of 0.8 an absolute path and `/item…` are relative to the item too. */
function legacyPath(path: string, scope: string): string {
  const relative =
    scope === "/"
      ? path
      : path
          .replace(/^\.?\/item/, "")
          .replace(/^\.?\/text/, "")
          .replace(/^\.?\/label/, "")
          .replace(/^\.?\//, "");
  if (relative === "" || relative === ".") return scope;
  if (relative.startsWith("/")) return relative;
  return `${scope === "/" ? "" : scope}/${relative}`;
}

/** Whether renderers take a value of a component as a binding or a function call. */
export function isDynamic(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && (Object.hasOwn(value, "path") || Object.hasOwn(value, "call"));
}

/** Resolves the values of one drawn component; its steps are bounded together. */
export class Resolver {
  readonly calls: SurfaceFunctionCall[] = [];
  /** All data paths that were read. */
  readonly paths = new Set<string>();
  readonly scope: Scope;
  #steps: number;

  constructor(scope: Scope) {
    this.scope = scope;
    this.#steps = scope.limits.maxExpressionSteps;
  }

  resolve(value: JsonValue, pointer: string): Resolved {
    const trace: Trace = { paths: new Set(), alternatives: [], isExact: true };
    const resolved = this.#value(value, pointer, trace, 0);
    for (const path of trace.paths) this.paths.add(path);
    return {
      value: resolved,
      paths: [...trace.paths],
      alternatives: trace.alternatives,
      isExact: trace.isExact,
    };
  }

  /** The arguments of a call that an action makes, without calling it. */
  call(call: JsonObject, pointer: string): { args: JsonObject; resolved: Resolved } {
    const trace: Trace = { paths: new Set(), alternatives: [], isExact: true };
    const args = this.#arguments(call, pointer, trace, 0);
    for (const path of trace.paths) this.paths.add(path);
    return {
      args,
      resolved: { value: args, paths: [...trace.paths], alternatives: [], isExact: trace.isExact },
    };
  }

  #value(value: JsonValue, pointer: string, trace: Trace, depth: number): JsonValue | undefined {
    this.#step(1);
    if (this.scope.work.isOver) return undefined;
    if (this.#steps < 0 || depth > this.scope.limits.maxDepth) return this.#overLimit(trace);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      return value.map((item) => this.#value(item, pointer, trace, depth + 1) ?? null);
    }
    if (Object.hasOwn(value, "path")) return this.#binding(value["path"], trace);
    if (!Object.hasOwn(value, "call")) return value;
    const args = this.#arguments(value, pointer, trace, depth);
    const name = String(value["call"]);
    if (name === "formatString") return this.#formatString(args, pointer, trace, depth);
    if (!isBasicFunction(name)) {
      this.scope.problems.add(
        "surface/unknown-function",
        false,
        this.scope.surfaceId,
        this.scope.place,
        `The function ${named(name)} is not in the basic catalogue, so its value is unknown.`,
      );
    }
    if (name === "pluralize" || name === "formatDate") {
      for (const text of Object.values(args)) trace.alternatives.push(shownAs(text));
    }
    const index =
      name === "@index" ? { index: Number(/(\d+)\/?$/.exec(this.scope.path)?.[1] ?? 0) } : {};
    const result = computeFunction(name, { ...args, ...index });
    if (!result.isExact) trace.isExact = false;
    return result.value;
  }

  #binding(path: JsonValue | undefined, trace: Trace): JsonValue | undefined {
    if (typeof path !== "string") {
      this.#malformed("A binding has a path that is not a string.");
      trace.isExact = false;
      return undefined;
    }
    const absolute = absolutePath(path, this.scope.path, this.scope.isLegacy);
    const segments = dataSegments(absolute, this.scope.isLegacy);
    if (segments === undefined) {
      this.#malformed("A binding reads a forbidden member.");
      return undefined;
    }
    const normal = `/${segments.map(escapeSegment).join("/")}`;
    trace.paths.add(normal);
    if (this.scope.isInputPath(normal)) trace.isExact = false;
    const value = this.scope.data.read(segments);
    if (typeof value === "object" && value !== null) {
      const { values, length } = measure(value, this.scope.limits.maxSteps);
      this.scope.work.step(values);
      this.scope.work.spend(length);
    }
    return value;
  }

  #step(count: number): void {
    this.#steps -= count;
    this.scope.work.step(count);
  }

  #arguments(call: JsonObject, pointer: string, trace: Trace, depth: number): JsonObject {
    const args: JsonObject = {};
    const given = call["args"];
    if (isJsonObject(given)) {
      for (const [key, value] of Object.entries(given)) {
        const resolved = this.#value(value, pointer, trace, depth + 1);
        if (resolved !== undefined) setMember(args, key, resolved);
      }
    }
    const name = String(call["call"]);
    this.calls.push({
      name,
      args,
      caller: callerOf(name),
      isBasic: isBasicFunction(name),
      path: pointer,
    });
    return args;
  }

  #formatString(
    args: JsonObject,
    pointer: string,
    trace: Trace,
    depth: number,
  ): JsonValue | undefined {
    const { value } = args;
    // The official renderer coerces a missing template to this word.
    const text = value === undefined ? "undefined" : String(value);
    if (text.length > this.scope.limits.maxTextLength) return this.#overLimit(trace);
    try {
      let shown = "";
      const read = (characters: number): boolean => {
        this.#step(Math.ceil(characters / 16));
        return this.#steps >= 0 && !this.scope.work.isOver;
      };
      for (const part of parseFormatString(text, read)) {
        const resolved = shownAs(this.#value(part, pointer, trace, depth + 1));
        if (shown.length + resolved.length > this.scope.limits.maxTextLength)
          return this.#overLimit(trace);
        shown += resolved;
        this.scope.work.spend(resolved.length);
      }
      return shown;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (this.#steps < 0) return this.#overLimit(trace);
      // Another renderer may show the text as it is.
      trace.alternatives.push(text);
      trace.isExact = false;
      this.#malformed(`A text of formatString has ${error.message}.`);
      return undefined;
    }
  }

  #malformed(sentence: string): void {
    this.scope.problems.add(
      "surface/malformed-expression",
      false,
      this.scope.surfaceId,
      this.scope.place,
      sentence,
    );
  }

  #overLimit(trace: Trace): undefined {
    trace.isExact = false;
    this.scope.problems.add(
      "surface/over-limit",
      true,
      this.scope.surfaceId,
      this.scope.place,
      "The bindings and functions of a component take more steps, levels or characters than allowed. Fix: make them shorter, or raise the limit.",
    );
    return undefined;
  }
}

/** A segment in a JSON Pointer. */
export function escapeSegment(segment: string): string {
  return segment.includes("~") || segment.includes("/")
    ? segment.replaceAll("~", "~0").replaceAll("/", "~1")
    : segment;
}
