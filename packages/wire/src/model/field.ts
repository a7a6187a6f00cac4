/** The meaning of null in a field: an error, the same as absent, or data like any other value. */
export type NullRule = "fatal" | "absent" | "data";

/** The values a field accepts. */
export type ValueSpec =
  | { readonly kind: "string" | "boolean" | "pointer" | "json" | "object" }
  /** A safe integer, not below `minimum`. */
  | { readonly kind: "integer"; readonly minimum: number }
  /** A string of a closed set. */
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly element: ValueSpec; readonly minimum: number }
  | { readonly kind: "stringOrList"; readonly element: ValueSpec }
  | Shape
  | Union;

/** An object of described fields. */
export type Shape = {
  readonly kind: "shape";
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** The names of the required fields. */
  readonly required: readonly string[];
  /** Whether undefined members are data (RFC 6902 operations) or are stripped. */
  readonly open: boolean;
};

/** Objects told apart by a string in one field; the tag is not among a member's fields. */
export type Union = {
  readonly kind: "union";
  readonly name: string;
  readonly tag: string;
  readonly members: Readonly<Record<string, Shape>>;
};

/** One field of an object. */
export type Field<Required extends boolean = boolean> = {
  readonly spec: ValueSpec;
  readonly required: Required;
  readonly whenNull: NullRule;
  /** The field that this one says something about: without it, this one is removed. */
  readonly beside?: string;
};

/** The fields of a type, without its tag: the compiler checks the names and which are required. */
export type FieldsOf<T, Tag extends string = never> = {
  readonly [Key in Exclude<keyof T, Tag> & string]-?: Field<
    undefined extends T[Key] ? false : true
  >;
};

/** A required field. */
export function required(spec: ValueSpec): Field<true> {
  return { spec, required: true, whenNull: spec.kind === "json" ? "data" : "fatal" };
}

/** An optional field; a null in it is an error unless the protocol's 1.0 release forgives it. */
export function optional(
  spec: ValueSpec,
  whenNull: Exclude<NullRule, "data"> = "fatal",
): Field<false> {
  return { spec, required: false, whenNull };
}

/** An optional field that says something about another and never stands without it. */
export function optionalBeside(beside: string, spec: ValueSpec): Field<false> {
  return { spec, required: false, whenNull: "fatal", beside };
}

/** A shape from fields whose types are already erased. */
export function shapeOf(
  name: string,
  fields: Readonly<Record<string, Field>>,
  open: boolean,
): Shape {
  const names = Object.keys(fields).filter((key) => fields[key]?.required);
  return { kind: "shape", name, fields, required: names, open };
}

/** A closed object. */
export function shape<T, Tag extends string = never>(
  name: string,
  fields: FieldsOf<T, Tag>,
): Shape {
  return shapeOf(name, fields, false);
}

/** An object whose undescribed members are data. */
export function openShape<T, Tag extends string = never>(
  name: string,
  fields: FieldsOf<T, Tag>,
): Shape {
  return shapeOf(name, fields, true);
}

/** A list of values. */
export function listOf(element: ValueSpec, minimum = 0): ValueSpec {
  return { kind: "list", element, minimum };
}

/** A text. */
export const STRING: ValueSpec = { kind: "string" };
/** True or false. */
export const BOOLEAN: ValueSpec = { kind: "boolean" };
/** An RFC 6901 pointer. */
export const POINTER: ValueSpec = { kind: "pointer" };
/** Any JSON value, never looked into. */
export const JSON_VALUE: ValueSpec = { kind: "json" };
/** A JSON object, never looked into. */
export const OPEN_OBJECT: ValueSpec = { kind: "object" };
/** A count. */
export const COUNT: ValueSpec = { kind: "integer", minimum: 0 };
/** A safe integer. */
export const SAFE_INTEGER: ValueSpec = { kind: "integer", minimum: Number.MIN_SAFE_INTEGER };
