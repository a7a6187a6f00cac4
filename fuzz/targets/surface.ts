import { canonicalJson, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import { ExpressionError, parseFormatString } from "../../packages/surface/src/a2ui/expression.js";
import { readPartialObject } from "../../packages/surface/src/payload/partial-json.js";
import { attempt, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const OPERATIONS = JSON.stringify({
  a2ui_operations: [
    { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "basic" } },
    {
      version: "v0.9",
      updateComponents: {
        surfaceId: "s",
        components: [
          { id: "root", component: "Column", children: ["b", "l", "f"] },
          {
            id: "b",
            component: "Button",
            child: "t",
            action: { event: { name: "pay", context: { id: { path: "/id" } } } },
          },
          {
            id: "t",
            component: "Text",
            text: { call: "formatString", args: { value: "Pay ${/sum}" } },
          },
          { id: "l", component: "List", children: { componentId: "t", path: "/items" } },
          {
            id: "f",
            component: "TextField",
            label: "Password",
            variant: "obscured",
            value: { path: "/pw" },
          },
        ],
      },
    },
    {
      version: "v0.9",
      updateDataModel: { surfaceId: "s", path: "/", value: { sum: 7, items: [{}, {}] } },
    },
  ],
});
const LEGACY = JSON.stringify([
  { beginRendering: { surfaceId: "s", root: "root" } },
  {
    surfaceUpdate: {
      surfaceId: "s",
      components: [{ id: "root", component: { Text: { text: { path: "/a" } } } }],
    },
  },
  { dataModelUpdate: { surfaceId: "s", contents: [{ key: "a", valueString: "x" }] } },
]);
const APP = JSON.stringify({
  contents: [
    {
      uri: "ui://x/y",
      mimeType: "text/html",
      text: "<form action=//e><input type=password></form><script>1</script>",
      _meta: { ui: { csp: { connectDomains: ["https://a"] } } },
    },
  ],
  resourceUri: "ui://x/y",
});

/** The sentence of a payload that broke the model itself. */
const BROKEN = "The payload could not be read";

export const SURFACE_TARGETS: readonly FuzzTarget[] = [
  {
    name: "surface-payload",
    property: "a payload of any channel is read without an error, twice the same, and undone",
    covers: [
      "packages/surface/src/a2ui/operations.ts#readOperation",
      "packages/surface/src/a2ui/read-component.ts#readComponent",
      "packages/surface/src/thread/read-definition.ts#readDefinition",
      "packages/surface/src/thread/views.ts#readApp",
      "packages/surface/src/thread/views.ts#readResource",
      "packages/surface/src/thread/views.ts#readSandbox",
      "packages/surface/src/html/read-html.ts#readHtml",
    ],
    dictionary: [
      '"path":"/',
      '"call":"formatString"',
      '"call":"openUrl"',
      '"componentId":"',
      "${/",
      '"__proto__"',
      '"root"',
      '"children":["',
      "</script>",
    ],
    seeds: [
      OPERATIONS,
      LEGACY,
      APP,
      '{"html":["<p>"],"generating":true,"css":"a{background:url(x)}"}',
    ],
    maxBytes: 4096,
    run(input) {
      const text = textOf(input);
      const parsed = attempt(() => parseJson(text));
      const content: JsonValue = parsed.ok ? parsed.value : text;
      const [first, second] = [createSurfaceModel(), createSurfaceModel()];
      for (const kind of ["activity", "result"] as const) {
        const payload = {
          kind,
          messageId: "m",
          toolCallId: "m",
          activityType: "a2ui-surface",
          content,
        };
        const facts = first.apply(payload);
        second.apply(payload);
        second.undo();
        const again = second.apply(payload);
        hold(
          !facts.problems.some(({ sentence }) => sentence.startsWith(BROKEN)) || !parsed.ok,
          "no value breaks the model",
        );
        const hashes = (of: typeof facts): string[] =>
          of.components.map(({ subtreeHash }) => subtreeHash).toSorted();
        const isCyclic = facts.problems.some(({ code }) => code === "surface/cycle");
        if (!isCyclic) holdEqual(hashes(again), hashes(facts), "what is undone leaves no trace");
      }
    },
  },
  {
    name: "surface-texts",
    property: "an expression is parsed or refused, and the beginning of an object is a part of it",
    covers: [
      "packages/surface/src/a2ui/expression.ts#parseFormatString",
      "packages/surface/src/payload/partial-json.ts#readPartialObject",
    ],
    dictionary: ["${", "}", "\\${", "(a:", "'", '{"components":[', '"}'],
    seeds: [
      "Pay ${/sum} to ${formatString(value: 'x ${name}')}",
      '{"surfaceId":"s","components":[{"id":"root"}],"data":{"a":1',
      OPERATIONS,
    ],
    run(input) {
      const text = textOf(input);
      try {
        parseFormatString(text, () => true);
      } catch (error) {
        hold(error instanceof ExpressionError, "an expression is refused by its error");
      }
      const whole = attempt(() => parseJson(text));
      const partial = readPartialObject(text);
      if (whole.ok && partial !== undefined) {
        holdEqual(
          canonicalJson(partial.members),
          canonicalJson(whole.value),
          "the whole is its own beginning",
        );
      }
    },
  },
];
