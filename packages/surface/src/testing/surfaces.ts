import * as fc from "fast-check";
import type { JsonValue } from "@countersign/core";

const IDS = ["root", "a", "b", "c", "d", "e", "f", "g"];
const PATHS = [
  "/title",
  "/items",
  "/items/0",
  "/items/0/name",
  "/user/name",
  "name",
  "url",
  "/url",
  "/n",
  "",
  ".",
];
const WORDS = ["Pay", "View invoice", "Delete", "ok", "", "Зaplata", "${", "a\\${b}", "7", "𝒜"];

const id = fc.constantFrom(...IDS);
const path = fc.constantFrom(...PATHS);
const word = fc.constantFrom(...WORDS);
const expression = fc
  .array(
    fc.oneof(
      word.filter((text) => text !== "${"),
      path.map((one) => `\${${one}}`),
      fc.constantFrom(
        "${add(a: 1, b: /n)}",
        "${'x' }",
        "${not(value: true)}",
        "${ contains(string: /title, substring: 'a') }",
        "${formatString(value: 'n ${/n}')}",
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(" "));

/** A text of a component: literal, binding or function. */
const text: fc.Arbitrary<JsonValue> = fc.oneof(
  word,
  path.map((one) => ({ path: one })),
  expression.map((value) => ({ call: "formatString", args: { value }, returnType: "string" })),
  fc.tuple(path, path).map(([a, b]) => ({
    call: "equals",
    args: { a: { path: a }, b: { path: b } },
    returnType: "boolean",
  })),
);
const children: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.array(id, { maxLength: 4 }),
  fc
    .tuple(id, fc.constantFrom("/items", "items", "/user/list"))
    .map(([componentId, list]) => ({ componentId, path: list })),
);
const action: fc.Arbitrary<JsonValue> = fc
  .tuple(
    fc.constantFrom("approve", "delete"),
    fc.dictionary(
      fc.constantFrom("id", "who"),
      fc.oneof(
        word,
        path.map((one) => ({ path: one })),
      ),
      { maxKeys: 2 },
    ),
  )
  .map(([name, context]) => ({ event: { name, context } }));

/** A component that the official schema of the basic catalogue accepts. */
export const component: fc.Arbitrary<JsonValue> = fc
  .tuple(
    id,
    fc.oneof(
      { weight: 4, arbitrary: text.map((value) => ({ component: "Text", text: value })) },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom("Column", "Row", "List"), children)
          .map(([type, value]) => ({ component: type, children: value })),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(id, action)
          .map(([child, value]) => ({ component: "Button", child, action: value })),
      },
      text.map((url) => ({ component: "Image", url, description: "shown" })),
      id.map((child) => ({ component: "Card", child })),
      fc.tuple(id, id).map(([trigger, content]) => ({ component: "Modal", trigger, content })),
      fc
        .tuple(
          text,
          path.filter((one) => one.startsWith("/")),
        )
        .map(([label, value]) => ({ component: "TextField", label, value: { path: value } })),
    ),
  )
  .map(([name, rest]) => ({ id: name, ...rest }) as JsonValue);

const value: fc.Arbitrary<JsonValue> = fc.oneof(
  word,
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom<JsonValue>(
    null,
    true,
    { name: "Ann" },
    [{ name: "x" }, { name: "y", url: "https://a.example/" }],
    ["p", "q"],
    {
      title: "T",
      items: [{ name: "one" }],
      user: { name: "U", list: [1, 2] },
      n: 3,
      url: "https://b.example/x",
    },
  ),
);

/** An operation of A2UI 0.9 on the surface `s`, valid by the official schemas. */
export const operation: fc.Arbitrary<JsonValue> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(component, { minLength: 1, maxLength: 5 })
      .map((components) => ({ version: "v0.9", updateComponents: { surfaceId: "s", components } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("/", ...PATHS.filter((one) => one.startsWith("/"))), value)
      .map(([at, written]) => ({
        version: "v0.9",
        updateDataModel: { surfaceId: "s", path: at, value: written },
      })),
  },
) as fc.Arbitrary<JsonValue>;

/** The operation that opens the surface `s`. */
export const OPEN: JsonValue = {
  version: "v0.9",
  createSurface: {
    surfaceId: "s",
    catalogId: "https://a2ui.org/specification/v0_9/basic_catalog.json",
  },
};

/** The same operation as A2UI 0.8 would say it; functions become a text. */
export function asLegacy(one: JsonValue): JsonValue {
  const { updateComponents, updateDataModel } = one as Record<string, Record<string, JsonValue>>;
  if (updateComponents !== undefined) {
    // The official schema wants each id once, and every child in the same operation.
    const list = updateComponents["components"] as Record<string, JsonValue>[];
    const byId = new Map(list.map((item) => [item["id"], item]));
    const components = [...byId.values()].map(({ id: name, component: type, ...props }) => {
      const refers = [
        props["child"],
        props["trigger"],
        props["content"],
        (props["children"] as { componentId?: string } | undefined)?.componentId,
      ];
      if (refers.some((other) => other !== undefined && !byId.has(other))) {
        return { id: name, component: { Text: { text: { literalString: "no child" } } } };
      }
      if (Array.isArray(props["children"]))
        props["children"] = props["children"].filter((other) => byId.has(other));
      return { id: name, component: { [String(type)]: legacyProps(String(type), props) } };
    });
    return { surfaceUpdate: { surfaceId: "s", components } } as JsonValue;
  }
  const { path: at = "/", value: written = null } = updateDataModel ?? {};
  const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
  const contents = isObject ? pairs(written as Record<string, JsonValue>) : [typed(".", written)];
  return { dataModelUpdate: { surfaceId: "s", path: at, contents } } as JsonValue;
}

function legacyProps(type: string, props: Record<string, JsonValue>): JsonValue {
  const result: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(props)) {
    if (key === "children") {
      result[key] = Array.isArray(item)
        ? { explicitList: item }
        : {
            template: {
              componentId: (item as never)["componentId"],
              dataBinding: (item as never)["path"],
            },
          };
    } else if (key === "action") {
      const { name, context } = (
        item as { event: { name: string; context: Record<string, JsonValue> } }
      ).event;
      result[key] = {
        name,
        context: Object.entries(context).map(([entry, given]) => ({
          key: entry,
          value: bound(given),
        })),
      };
    } else if (key === "child") result[key] = item;
    else if (key === "trigger") result["entryPointChild"] = item;
    else if (key === "content") result["contentChild"] = item;
    else if (type === "Image" && key === "description") result["altText"] = bound(item);
    else if (type === "TextField" && key === "value") result["text"] = bound(item);
    else result[key] = bound(item);
  }
  return result;
}

function bound(item: JsonValue): JsonValue {
  if (typeof item === "string") return { literalString: item };
  if (typeof item === "object" && item !== null && "path" in item)
    return { path: (item as { path: string }).path };
  return { literalString: "function" };
}

function pairs(object: Record<string, JsonValue>): JsonValue[] {
  return Object.entries(object).map(([key, inner]) => typed(key, inner));
}

function typed(key: string, inner: JsonValue): JsonValue {
  if (typeof inner === "number") return { key, valueNumber: inner };
  if (typeof inner === "boolean") return { key, valueBoolean: inner };
  if (Array.isArray(inner))
    return { key, valueMap: inner.map((item, index) => typed(String(index), item)) };
  if (typeof inner === "object" && inner !== null)
    return { key, valueMap: pairs(inner as Record<string, JsonValue>) };
  return { key, valueString: inner === null ? "" : inner };
}
