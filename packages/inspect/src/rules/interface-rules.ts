import type { JsonObject } from "@countersign/core";
import { inRun } from "./examples.js";
import type { Rule } from "./rule.js";

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const CREATE = { version: "v0.9", createSurface: { surfaceId: "s1", catalogId: CATALOGUE } };
const update = (...components: JsonObject[]): JsonObject => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s1", components },
});
const drawing = (...operations: JsonObject[]) =>
  inRun({
    type: "ACTIVITY_SNAPSHOT",
    messageId: "a1",
    activityType: "a2ui-surface",
    content: { a2ui_operations: operations },
  });

/** Columns in columns, deeper than the gateway follows. */
const NESTED = Array.from({ length: 120 }, (_column, depth) => ({
  id: depth === 0 ? "root" : `c${depth}`,
  component: "Column",
  children: depth < 119 ? [`c${depth + 1}`] : [],
}));

/** Layer 3: the interfaces that an agent draws with A2UI, MCP Apps or HTML. */
export const INTERFACE_RULES = {
  "ui/unreadable": {
    layer: 3,
    severity: "warning",
    title: "A generated interface can be read",
    what: "An operation, a data model or an expression does not have the shape of its version, or the version is unknown.",
    why: "Renderers ignore it or fail, so the user sees an old or an empty interface. The gateway blocks it in enforce mode.",
    fix: "Build the operations with the toolkit of the convention (@ag-ui/a2ui-toolkit), one kind of update in each.",
    example: drawing(CREATE, { version: "v0.9", paintSurface: { surfaceId: "s1" } }),
  },
  "ui/not-created": {
    layer: 3,
    severity: "warning",
    title: "An interface is created once, then updated by its own message",
    what: "An update comes before the surface is created, a surface is created twice, or another message or call updates it.",
    why: "Renderers drop the update, or draw it into another interface.",
    fix: "Send createSurface first, once, and all updates of a surface under the same message id.",
    example: drawing(update({ id: "root", component: "Text", text: "Hi" })),
  },
  "ui/incomplete": {
    layer: 3,
    severity: "warning",
    title: "A finished interface has all its components",
    what: "At the end of the run a child or the root is missing, an id is used twice, a component has no type, or components contain each other.",
    why: "Renderers leave a gap, or draw nothing.",
    fix: "Define each id once, with a type, before the run ends; validate with validateA2UIComponents of @ag-ui/a2ui-toolkit.",
    example: drawing(CREATE, update({ id: "root", component: "Column", children: ["missing"] })),
  },
  "ui/large": {
    layer: 3,
    severity: "warning",
    title: "A generated interface stays within the limits of a gateway",
    what: "An interface has more components, nesting, data or text than a gateway follows (6,000 components, 100 levels, 1 MiB of HTML).",
    why: "The gateway cannot know the picture on the screen, so it blocks the event.",
    fix: "Split the interface into several surfaces, and send long lists in pages.",
    example: drawing(CREATE, update(...NESTED)),
  },
} as const satisfies Readonly<Record<`ui/${string}`, Rule>>;
