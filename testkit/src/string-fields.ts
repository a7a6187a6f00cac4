/**
 * The kinds of value that a field of the protocol model holds, in the form of the model's table.
 */
type Spec =
  | { readonly kind: "string" | "boolean" | "pointer" | "json" | "object" }
  | { readonly kind: "integer" }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "list" | "stringOrList"; readonly element: Spec }
  | ShapeSpec
  | { readonly kind: "union"; readonly tag: string; readonly members: Record<string, ShapeSpec> };
type ShapeSpec = {
  readonly kind: "shape";
  readonly name: string;
  readonly fields: Fields;
};
type Fields = Readonly<Record<string, { readonly spec: Spec; readonly required: boolean }>>;
type Table = Readonly<Record<string, { readonly fields: object }>>;
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Put = (value: Json) => Json;

/** A field that holds text, and a way to make an event that has a given text there. */
export type StringField = {
  /** `TYPE.field`, `Shape.field`, or `*.field` for one that every event may have. */
  readonly id: string;
  /** The event type through which it is reached. */
  readonly type: string;
  make(text: string): { type: string; [key: string]: Json };
};

const OF_EVERY_EVENT = new Set(["rawEvent", "metadata", "subagentRunId"]);

/** Every field of a model's events that can hold text of the agent; a string of a closed set cannot. */
export function stringFields(table: Table): StringField[] {
  const found: StringField[] = [];
  for (const [type, { fields }] of Object.entries(table)) {
    walkShape({ kind: "shape", name: type, fields: fields as Fields }, { type }, (value) => value);
    function walkShape(shape: ShapeSpec, tag: { [key: string]: Json }, put: Put): void {
      const base = { ...tag, ...(sampleOf(shape) as object) } as { [key: string]: Json };
      for (const [field, { spec }] of Object.entries(shape.fields)) {
        const owner = shape.name === type && OF_EVERY_EVENT.has(field) ? "*" : shape.name;
        walk(spec, `${owner}.${field}`, (value) => put({ ...base, [field]: value }));
      }
    }
    function walk(spec: Spec, id: string, put: Put): void {
      const leaf = (wrap: (text: string) => Json): void =>
        void found.push({
          id,
          type,
          make: (text) => put(wrap(text)) as ReturnType<StringField["make"]>,
        });
      switch (spec.kind) {
        case "string":
          return leaf((text) => text);
        case "pointer":
          return leaf((text) => `/${text}`);
        case "json":
          leaf((text) => text);
          return leaf((text) => [{ deep: [text] }]);
        case "object":
          return leaf((text) => ({ deep: [text] }));
        case "list":
          return walk(spec.element, id, (value) => put([value]));
        case "stringOrList":
          leaf((text) => text);
          return walk(spec.element, id, (value) => put([value]));
        case "shape":
          return walkShape(spec, {}, put);
        case "union":
          for (const [name, member] of Object.entries(spec.members)) {
            walkShape(member, { [spec.tag]: name }, put);
          }
          return undefined;
        default:
          return undefined;
      }
    }
  }
  return found;
}

function sampleOf(spec: Spec): Json {
  switch (spec.kind) {
    case "boolean":
      return true;
    case "integer":
      return 0;
    case "enum":
      return spec.values[0] ?? "";
    case "list":
      return [];
    case "pointer":
      return "/x";
    case "object":
      return {};
    case "union": {
      const [name, member] = Object.entries(spec.members)[0] ?? [];
      return {
        [spec.tag]: name ?? "",
        ...((member === undefined ? {} : sampleOf(member)) as object),
      };
    }
    case "shape": {
      const required = Object.entries(spec.fields).filter(([, field]) => field.required);
      return Object.fromEntries(required.map(([name, field]) => [name, sampleOf(field.spec)]));
    }
    default:
      return "x";
  }
}
