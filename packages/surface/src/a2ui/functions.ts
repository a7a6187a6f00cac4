import type { JsonObject, JsonValue } from "@countersign/core";
import type { FunctionCaller } from "../base/facts.js";

/** The value of a function; `isExact` is false when a client may compute another one. */
export interface FunctionValue {
  readonly value: JsonValue | undefined;
  readonly isExact: boolean;
}

type Compute = (args: JsonObject) => JsonValue | undefined;
interface BasicFunction {
  readonly compute: Compute;
  readonly isExact: boolean;
}

const exact = (compute: Compute): BasicFunction => ({ compute, isExact: true });
/** Depends on the locale or the time zone of the page, or is not computed here. */
const assumed = (compute: Compute): BasicFunction => ({ compute, isExact: false });

/** A number as renderers coerce it; undefined when they reject it. */
function number(value: JsonValue | undefined, isNullRejected = true): number | undefined {
  if (value === undefined || (value === null && isNullRejected)) return undefined;
  // A list or an object becomes NaN, a number of one item: as in the official renderer.
  const coerced = Number(value);
  return Number.isNaN(coerced) ? undefined : coerced;
}

function numbers(combine: (a: number, b: number) => JsonValue | undefined): BasicFunction {
  return exact((args) => {
    const [a, b] = [number(args["a"]), number(args["b"])];
    if (a === undefined || b === undefined) return undefined;
    const result = combine(a, b);
    return typeof result === "number" && !Number.isFinite(result) ? String(result) : result;
  });
}

function texts(first: string, second: string, test: (a: string, b: string) => boolean) {
  return exact((args) => {
    const [a, b] = [args[first], args[second]];
    return a === undefined || b === undefined ? undefined : test(coerced(a), coerced(b));
  });
}

function logic(test: (values: JsonValue[]) => boolean): BasicFunction {
  return exact(({ values }) =>
    Array.isArray(values) && values.length >= 2 ? test(values) : undefined,
  );
}

/** Length or value between `min` and `max`, of which one must be there. */
function within(value: number, args: JsonObject): boolean | undefined {
  const [min, max] = [number(args["min"], false), number(args["max"], false)];
  if (args["min"] === undefined && args["max"] === undefined) return undefined;
  return (min === undefined || value >= min) && (max === undefined || value <= max);
}

function formatted(options: (args: JsonObject) => Intl.NumberFormatOptions): BasicFunction {
  return assumed((args) => {
    const value = number(args["value"], false);
    if (value === undefined) return undefined;
    const decimals = number(args["decimals"]);
    try {
      return new Intl.NumberFormat("en-US", {
        ...options(args),
        ...(decimals === undefined
          ? {}
          : { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
        useGrouping: args["grouping"] !== false,
      }).format(value);
    } catch {
      return String(value);
    }
  });
}

const PLURALS = new Intl.PluralRules("en-US");
const EMAIL = /^[\w.%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/;

/** The functions of the basic catalogue by name. `formatString` is computed by the resolver. */
const BASIC_FUNCTIONS: ReadonlyMap<string, BasicFunction> = new Map([
  ["add", numbers((a, b) => a + b)],
  ["subtract", numbers((a, b) => a - b)],
  ["multiply", numbers((a, b) => a * b)],
  ["divide", numbers((a, b) => (b === 0 ? Infinity : a / b))],
  ["greater_than", numbers((a, b) => a > b)],
  ["less_than", numbers((a, b) => a < b)],
  ["equals", exact(({ a, b }) => (a === undefined || b === undefined ? undefined : a === b))],
  ["not_equals", exact(({ a, b }) => (a === undefined || b === undefined ? undefined : a !== b))],
  ["and", logic((values) => values.every(Boolean))],
  ["or", logic((values) => values.some(Boolean))],
  ["not", exact(({ value }) => (value === undefined ? undefined : !value))],
  ["contains", texts("string", "substring", (a, b) => a.includes(b))],
  ["starts_with", texts("string", "prefix", (a, b) => a.startsWith(b))],
  ["ends_with", texts("string", "suffix", (a, b) => a.endsWith(b))],
  ["required", exact(({ value }) => (value === undefined ? undefined : isFilled(value)))],
  [
    "length",
    exact((args) => {
      const { value } = args;
      if (value === undefined) return undefined;
      const isCounted = typeof value === "string" || Array.isArray(value);
      return within(isCounted ? value.length : 0, args);
    }),
  ],
  [
    "numeric",
    exact((args) => {
      const value = number(args["value"], false);
      return value === undefined ? undefined : within(value, args);
    }),
  ],
  ["email", exact(({ value }) => (value === undefined ? undefined : EMAIL.test(coerced(value))))],
  // An expression of the agent may take exponential time.
  ["regex", assumed(() => undefined)],
  ["formatNumber", formatted(() => ({}))],
  [
    "formatCurrency",
    formatted(({ currency }) => ({ style: "currency", currency: shownAs(currency) })),
  ],
  // Patterns may contain quoted words, which are among the texts of the component.
  // Renderers draw the words of the value nowhere.
  [
    "formatDate",
    assumed(({ value }) =>
      value === undefined
        ? undefined
        : shownAs(value)
            .replaceAll(/\p{L}+/gu, " ")
            .trim(),
    ),
  ],
  [
    "pluralize",
    assumed((args) => {
      const value = number(args["value"], false);
      if (value === undefined || args["other"] === undefined) return undefined;
      return shownAs(args[PLURALS.select(value)] ?? args["other"]);
    }),
  ],
  ["openUrl", exact(() => undefined)],
  // A2UI 1.0: the position in a list; the resolver adds the index as argument.
  ["@index", exact(({ index, offset }) => (number(index) ?? 0) + (number(offset) ?? 0))],
]);

/** Whether the basic catalogue has the function. */
export function isBasicFunction(name: string): boolean {
  return BASIC_FUNCTIONS.has(name) || name === "formatString";
}

/** Its callers: every function of the basic catalogue runs in the page. */
export function callerOf(name: string): FunctionCaller {
  return isBasicFunction(name) ? "rendererOnly" : "unknown";
}

/** Computes a function of the basic catalogue; of others nothing is known. */
export function computeFunction(name: string, args: JsonObject): FunctionValue {
  const basic = BASIC_FUNCTIONS.get(name);
  if (basic === undefined) return { value: undefined, isExact: false };
  return { value: basic.compute(args), isExact: basic.isExact };
}

function isFilled(value: JsonValue): boolean {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** A value as functions of texts and attributes of a page coerce it: an object becomes `[object Object]`, a list its items. */
export function coerced(value: JsonValue): string {
  return String(value as string);
}

/** A value as text, as renderers put it on the screen: an object as its JSON. */
export function shownAs(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
