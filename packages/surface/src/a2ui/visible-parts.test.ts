import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "../index.js";

const text = (word: string): JsonValue => ({ Text: { text: { literalString: word } } });

/** The texts of a button of A2UI 0.8 with one component in it. */
function labelsOf(component: JsonValue): {
  label?: string | undefined;
  visible?: string | undefined;
} {
  const components = [
    { id: "root", component: { Button: { child: "part", action: { name: "delete" } } } },
    { id: "part", component },
    { id: "view", component: text("View") },
    { id: "delete", component: text("Delete") },
  ];
  const model = createSurfaceModel();
  const content = {
    a2ui_operations: [
      { surfaceUpdate: { surfaceId: "s", components } },
      { beginRendering: { surfaceId: "s", root: "root" } },
    ],
  };
  model.apply({ kind: "result", toolCallId: "c", content });
  const button = model.component("s", "root");
  return { label: button?.label, visible: button?.visibleLabel };
}

const literal = (word: string): JsonValue => ({ literalString: word });
test.each<[string, JsonValue, string]>([
  ["modal", { Modal: { entryPointChild: "view", contentChild: "delete" } }, "View"],
  [
    "closed tab",
    {
      Tabs: {
        tabItems: [
          { title: literal("Invoice"), child: "view" },
          { title: literal("More"), child: "delete" },
        ],
      },
    },
    "Invoice More View",
  ],
  ["list", { Row: { children: { explicitList: ["view", "delete"] } } }, "View Delete"],
  [
    "card with both kinds of children",
    { Card: { child: "delete", children: { explicitList: ["view"] } } },
    "View",
  ],
  ["date without a label", { DateTimeInput: { label: literal("Delete") } }, ""],
  ["unknown property", { Card: { child: "view", note: "delete" } }, "View"],
])("the visible label of A2UI 0.8 has what is on the screen: %s", (_, component, visible) => {
  const found = labelsOf(component);
  expect(found.visible).toBe(visible);
  expect(found.label).toContain("Delete");
});
