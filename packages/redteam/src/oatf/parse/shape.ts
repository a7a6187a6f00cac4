import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Path } from "../yaml/source.js";

/** Takes what a shape finds wrong. */
export type ShapeReport = (message: string, path: Path) => void;

/** Looks at one value and reports every part that has the wrong type. */
export type Shape = (value: JsonValue, path: Path, report: ShapeReport) => void;

/** One field of a closed object. */
export type Field = { readonly shape: Shape; readonly required: boolean };

function scalarShape(what: string, accepts: (value: JsonValue) => boolean): Shape {
  return (value, path, report) => {
    if (!accepts(value)) report(`must be ${what}`, path);
  };
}

/** Any text. */
export const TEXT = scalarShape("a string", (value) => typeof value === "string");
/** Any number. */
export const NUMBER = scalarShape("a number", (value) => typeof value === "number");
/** A whole number. */
export const INTEGER = scalarShape("an integer", Number.isInteger);
/** A whole number from one up. */
export const COUNT = scalarShape(
  "an integer of at least 1",
  (value) => Number.isInteger(value) && (value as number) >= 1,
);
/** True or false. */
export const BOOLEAN = scalarShape("true or false", (value) => typeof value === "boolean");
/** An object of any content. */
export const OPEN_OBJECT = scalarShape("a mapping", isJsonObject);
/** Anything at all. */
export const ANYTHING: Shape = () => {};

/** Text of one form. */
export function textMatching(what: string, form: RegExp): Shape {
  return scalarShape(what, (value) => typeof value === "string" && form.test(value));
}

/** A list whose items have one shape. */
export function listOf(item: Shape, options: { readonly nonEmpty?: boolean } = {}): Shape {
  return (value, path, report) => {
    if (!Array.isArray(value)) report("must be a list", path);
    else if (options.nonEmpty === true && value.length === 0) report("must not be empty", path);
    else for (const [index, entry] of value.entries()) item(entry, [...path, index], report);
  };
}

/** A mapping of any keys to values of one shape. */
export function mapOf(item: Shape): Shape {
  return (value, path, report) => {
    if (!isJsonObject(value)) report("must be a mapping", path);
    else for (const [key, entry] of Object.entries(value)) item(entry, [...path, key], report);
  };
}

/** A field that may be absent. */
export function optional(shape: Shape): Field {
  return { shape, required: false };
}

/** A field that must be there. */
export function required(shape: Shape): Field {
  return { shape, required: true };
}

/** An object with these fields and no others; `extensions` lets `x-*` through. */
export function closedObject(
  fields: Readonly<Record<string, Field>>,
  options: { readonly extensions?: boolean } = {},
): Shape {
  const table = new Map(Object.entries(fields));
  const needed = [...table].filter(([, field]) => field.required).map(([key]) => key);
  return (value, path, report) => {
    if (!isJsonObject(value)) {
      report("must be a mapping", path);
      return;
    }
    for (const [key, entry] of Object.entries(value)) {
      const field = table.get(key);
      if (field !== undefined) field.shape(entry, [...path, key], report);
      else if (options.extensions !== true || !key.startsWith("x-")) {
        report("unknown field", [...path, key]);
      }
    }
    for (const key of needed) {
      if (!Object.hasOwn(value, key)) report("is required", [...path, key]);
    }
  };
}
