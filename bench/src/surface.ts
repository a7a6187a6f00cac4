/**
 * Cost of one operation on a surface of 50, 500 and 5,000 components: a new text, a new component
 * among the children of the root, a new value that one component is bound to, a new item of a list.
 * The cost must not grow with the surface.
 */
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceModel } from "@countersign/surface";
import { compare, report } from "./harness.js";
import type { Case } from "./harness.js";

const SIZES = [50, 500, 5_000];
const ROUND = 200;

function apply(model: SurfaceModel, operations: JsonValue[]): void {
  // A result adds to what the call has shown, so that an event is one operation.
  const content = { a2ui_operations: operations };
  const facts = model.apply({ kind: "result", toolCallId: "c", content });
  if (facts.components.length === 0 || facts.problems.length > 0) {
    throw new Error(`unexpected facts: ${JSON.stringify(facts.problems)}`);
  }
}

const update = (...components: JsonValue[]): JsonValue => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s", components },
});
const write = (path: string, value: JsonValue): JsonValue => ({
  version: "v0.9",
  updateDataModel: { surfaceId: "s", path, value },
});

/** Cards in rows of twenty, half of the texts bound to data, and a list of as many items. */
function surfaceOf(size: number): SurfaceModel {
  const model = createSurfaceModel();
  const rows = Math.ceil(size / 40);
  const components: JsonValue[] = [
    {
      id: "root",
      component: "Column",
      children: ["list", ...Array.from({ length: rows }, (_, row) => `r${row}`)],
    },
    { id: "list", component: "List", children: { componentId: "item", path: "/items" } },
    { id: "item", component: "Text", text: { path: "name" } },
  ];
  for (let row = 0; row < rows; row += 1) {
    const buttons = Array.from({ length: 10 }, (_, column) => `${row}-${column}`);
    components.push({
      id: `r${row}`,
      component: "Row",
      children: buttons.map((name) => `b${name}`),
    });
    for (const name of buttons) {
      components.push(
        {
          id: `b${name}`,
          component: "Button",
          child: `t${name}`,
          action: { event: { name: "open", context: { id: name } } },
        },
        { id: `t${name}`, component: "Text", text: { path: `/texts/${name}` } },
      );
    }
  }
  apply(model, [
    { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "basic" } },
    write("/", {
      items: Array.from({ length: size / 2 }, (_, index) => ({ name: `item ${index}` })),
      texts: {},
    }),
    update(...components),
  ]);
  return model;
}

let counter = 0;
const OPERATIONS: Readonly<Record<string, (model: SurfaceModel) => void>> = {
  "text of a button": (model) =>
    apply(model, [update({ id: "t0-3", component: "Text", text: `text ${(counter += 1)}` })]),
  "value of a binding": (model) => apply(model, [write("/texts/0-4", `value ${(counter += 1)}`)]),
  "item of a list": (model) => apply(model, [write("/items/7/name", `name ${(counter += 1)}`)]),
  "button more or less in a row": (model) => {
    const length = 9 + ((counter += 1) % 2);
    const children = Array.from({ length }, (_, column) => `b1-${column}`);
    model.apply({
      kind: "result",
      toolCallId: "c",
      content: { a2ui_operations: [update({ id: "r1", component: "Row", children })] },
    });
  },
};

const sections = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, operate]) => {
    const cases = SIZES.map((size): Case<SurfaceModel> => {
      const model = surfaceOf(size);
      return {
        name: `${size.toLocaleString("en")} components`,
        prepare: () => model,
        run: (prepared) => {
          for (let index = 0; index < ROUND; index += 1) operate(prepared);
          return ROUND;
        },
      };
    });
    return [`New ${name}`, compare(cases)];
  }),
);

report("surface", "Operations on a surface", sections);
