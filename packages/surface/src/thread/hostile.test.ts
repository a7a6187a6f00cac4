import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import type { SurfaceFacts } from "../base/facts.js";
import { createSurfaceModel } from "../index.js";
import type { SurfaceModel } from "../index.js";
import { asLegacy, OPEN, operation } from "../testing/surfaces.js";

/** Set to more for a long run. */
const RUNS = Number(process.env["SURFACE_RUNS"] ?? 1_000);

const update = (...components: object[]): JsonValue =>
  ({ version: "v0.9", updateComponents: { surfaceId: "s", components } }) as JsonValue;
const write = (path: string, value: JsonValue): JsonValue => ({
  version: "v0.9",
  updateDataModel: { surfaceId: "s", path, value },
});

function show(model: SurfaceModel, ...operations: JsonValue[]): SurfaceFacts {
  return model.apply({ kind: "result", toolCallId: "c", content: { a2ui_operations: operations } });
}
const isOver = ({ problems }: SurfaceFacts): boolean =>
  problems.some(({ code, isUndecided }) => code === "surface/over-limit" && isUndecided);

/** Replaces, drops, doubles and renames values anywhere in a payload. */
function mutate(value: JsonValue, random: () => number, strange: readonly JsonValue[]): JsonValue {
  const pick = (list: readonly JsonValue[]): JsonValue =>
    list[Math.floor(random() * list.length)] ?? null;
  if (random() < 0.06) return pick(strange);
  if (Array.isArray(value)) {
    const items = value.flatMap((item) =>
      random() < 0.05 ? [] : random() < 0.05 ? [item, item] : [item],
    );
    return items.map((item) => mutate(item, random, strange));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      random() < 0.04
        ? String(
            pick([
              "id",
              "path",
              "call",
              "component",
              "__proto__",
              "constructor",
              "surfaceId",
              "children",
              "event",
              "literalString",
            ]),
          )
        : key,
      mutate(inner, random, strange),
    ]),
  );
}

const STRANGE: readonly JsonValue[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "root",
  "s",
  "__proto__",
  "/",
  "/items/999999999",
  "\u202eevil",
  "раyment",
  "${${${",
  "${a(b:${c})}",
  "\\${",
  "\u0000",
  [],
  {},
  { path: "/" },
  { path: 7 },
  { path: "__proto__/x" },
  { call: "formatString" },
  { call: "regex", args: { pattern: "(a+)+$", value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!" } },
  { componentId: "root", path: "/items" },
  { event: { name: {} } },
  { functionCall: { call: [] } },
  { literalString: {}, path: "x" },
  { explicitList: [7] },
  { Text: { text: "x" } },
];

test("no mutated payload throws, grows past its limits or loses an undo", () => {
  const limits = {
    maxSurfaces: 4,
    maxComponents: 20,
    maxInstances: 40,
    maxDepth: 12,
    maxDataValues: 200,
  };
  const payload = fc.array(fc.oneof(operation, operation.map(asLegacy)), {
    minLength: 1,
    maxLength: 6,
  });
  const property = fc.property(payload, fc.integer(), (operations, seed) => {
    let state = seed;
    const random = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
      return ((state >>> 8) & 0xffff) / 0x10000;
    };
    const model = createSurfaceModel({ limits });
    for (const one of [OPEN, ...operations]) {
      const mutated = mutate(one, random, STRANGE);
      const content: JsonValue = { a2ui_operations: [mutated] };
      const facts = model.apply({
        kind: "activity",
        messageId: `m${Math.floor(random() * 6)}`,
        activityType: "a2ui-surface",
        content,
      });
      // An error of the model itself has no place.
      expect(
        facts.problems.filter(({ code, place }) => code === "surface/unreadable" && place === ""),
      ).toEqual([]);
      expect(facts.components.length).toBeLessThanOrEqual(limits.maxInstances * limits.maxSurfaces);
      expect(model.surfaces.length).toBeLessThanOrEqual(limits.maxSurfaces + 1);
      if (random() < 0.2) model.undo();
    }
  });
  fc.assert(property, { numRuns: RUNS });
});

test("what all payloads of a run draw together is bounded: a short change can draw thousands of components anew", () => {
  const model = createSurfaceModel({ limits: { maxTotalLength: 100_000 } });
  const content = (text: string): JsonValue => ({
    a2ui_operations: [
      { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "c" } },
      {
        version: "v0.9",
        updateComponents: {
          surfaceId: "s",
          components: [{ id: "root", component: "Text", text: { path: "/a" } }],
        },
      },
      { version: "v0.9", updateDataModel: { surfaceId: "s", path: "/", value: { a: text } } },
    ],
  });
  const isOver = Array.from({ length: 200 }, (_, index) => {
    const activity = { kind: "activity", messageId: "m", activityType: "a2ui-surface" } as const;
    const { problems } = model.apply({ ...activity, content: content(`text ${index}`) });
    return problems.some(({ code, isUndecided }) => code === "surface/over-limit" && isUndecided);
  });
  expect(isOver.slice(0, 20)).not.toContain(true);
  expect(isOver.slice(-20)).not.toContain(false);
});

test("no text of arguments, results or HTML throws", () => {
  const words = fc.constantFrom(
    '{"surfaceId":"s"',
    ',"components":[',
    '{"id":"root","component":"Text","text":"x"}',
    "]",
    "}",
    '"',
    "\\",
    ",",
    "{",
    "[",
    "<script>",
    "<textarea>",
    "</",
    "<form action=//x>",
    "&#x6a;",
    "<!--",
    "javascript:",
    "a2ui_operations",
    ":",
    "1e9",
  );
  const text = fc.array(words, { maxLength: 20 }).map((parts) => parts.join(""));
  const property = fc.property(text, fc.boolean(), (piece, complete) => {
    const model = createSurfaceModel();
    const all = [
      model.apply({
        kind: "arguments",
        toolCallId: "c",
        name: "render_a2ui",
        text: piece,
        complete,
      }),
      model.apply({
        kind: "arguments",
        toolCallId: "d",
        name: "generateSandboxedUi",
        text: JSON.stringify({ html: piece, css: piece }),
        complete,
      }),
      model.apply({ kind: "result", toolCallId: "e", content: piece }),
    ];
    const thrown = all
      .flatMap(({ problems }) => problems)
      .filter(({ place, code }) => code === "surface/unreadable" && place === "");
    // A result in place of a payload is told by its place too, but only when it is UI.
    expect(thrown.filter(({ sentence }) => sentence.startsWith("The payload"))).toEqual([]);
  });
  fc.assert(property, { numRuns: RUNS });
});

test.each<[string, () => SurfaceFacts]>([
  [
    "a chain that is too deep",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        update(
          { id: "root", component: "Card", child: "c0" },
          ...Array.from({ length: 2_000 }, (_, index) => ({
            id: `c${index}`,
            component: "Card",
            child: `c${index + 1}`,
          })),
        ),
      ),
  ],
  [
    "a list that is too long",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        write(
          "/items",
          Array.from({ length: 60_000 }, () => 1),
        ),
        update(
          { id: "root", component: "List", children: { componentId: "t", path: "/items" } },
          { id: "t", component: "Text", text: "x" },
        ),
      ),
  ],
  [
    "data that is too large",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        write(
          "/",
          Array.from({ length: 200_000 }, () => 0),
        ),
      ),
  ],
  [
    "a button of too many components",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        update(
          { id: "root", component: "Button", child: "l", action: { event: { name: "a" } } },
          {
            id: "l",
            component: "Column",
            children: Array.from({ length: 900 }, (_, index) => `t${index}`),
          },
          ...Array.from({ length: 900 }, (_, index) => ({
            id: `t${index}`,
            component: "Text",
            text: "x",
          })),
        ),
      ),
  ],
  [
    "doubling references",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        update(
          { id: "root", component: "Button", child: "d0", action: { event: { name: "a" } } },
          ...Array.from({ length: 60 }, (_, index) => ({
            id: `d${index}`,
            component: "Row",
            children: [`d${index + 1}`, `d${index + 1}`],
          })),
        ),
      ),
  ],
  [
    "a text that doubles",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        write("/t", "x".repeat(60_000)),
        update({
          id: "root",
          component: "Text",
          text: { call: "formatString", args: { value: "${/t}".repeat(1_000) } },
        }),
      ),
  ],
  [
    "expressions that are too many",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        update({
          id: "root",
          component: "Text",
          text: { call: "formatString", args: { value: "${/t}".repeat(12_000) } },
        }),
      ),
  ],
  [
    "a component of too many values",
    () =>
      show(
        createSurfaceModel(),
        OPEN,
        update({
          id: "root",
          component: "Column",
          children: [],
          extra: Array.from({ length: 3_000 }, () => 1),
        }),
      ),
  ],
  [
    "HTML that is too long",
    () =>
      createSurfaceModel().apply({
        kind: "activity",
        messageId: "m",
        activityType: "open-generative-ui",
        content: { html: "x".repeat(2_000_000), generating: false },
      }),
  ],
  [
    "HTML of too many addresses",
    () =>
      createSurfaceModel().apply({
        kind: "activity",
        messageId: "m",
        activityType: "open-generative-ui",
        content: { html: "<img src=/x>".repeat(5_000), generating: false },
      }),
  ],
])("%s is undecided in bounded time", (_, run) => {
  const start = performance.now();
  expect(isOver(run())).toBe(true);
  expect(performance.now() - start).toBeLessThan(3_000);
});

test("deeply nested HTML costs no more than its length", () => {
  const html = "<b x=1><p>".repeat(50_000);
  const start = performance.now();
  createSurfaceModel().apply({
    kind: "activity",
    messageId: "m",
    activityType: "open-generative-ui",
    content: { html, generating: false },
  });
  expect(performance.now() - start).toBeLessThan(3_000);
});

test("old messages are forgotten, and new ones are judged", () => {
  const model = createSurfaceModel({ limits: { maxSurfaces: 3 } });
  for (let index = 0; index < 50; index += 1) {
    const content = {
      a2ui_operations: [OPEN, update({ id: "root", component: "Text", text: `n ${index}` })],
    };
    const facts = model.apply({
      kind: "activity",
      messageId: `m${index}`,
      activityType: "a2ui-surface",
      content,
    });
    expect(facts.components).toHaveLength(1);
    expect(facts.problems).toEqual([]);
  }
  expect(model.surfaces.map(({ sourceId }) => sourceId)).toEqual(["m47", "m48", "m49"]);
});

test("an expression of the agent is not run", () => {
  const facts = show(
    createSurfaceModel(),
    OPEN,
    update({
      id: "root",
      component: "Text",
      text: { call: "regex", args: { pattern: "(a+)+$", value: `${"a".repeat(60)}!` } },
    }),
  );
  expect(facts.components[0]?.isLabelExact).toBe(false);
});

test.each<[string, object[], number]>([
  [
    "the label of many buttons",
    [{ component: "Button", child: "long", action: { event: { name: "go" } } }],
    1_000,
  ],
  ["a text of many items", [{ component: "Text", text: { path: "/long" } }], 5_000],
  [
    "the context of many buttons",
    [
      {
        component: "Button",
        child: "x",
        action: { event: { name: "go", context: { all: { path: "/" } } } },
      },
    ],
    1_000,
  ],
  [
    "a formatted text",
    [{ component: "Text", text: { call: "formatString", args: { value: "${/long}".repeat(50) } } }],
    5_000,
  ],
])("a long text cannot be drawn thousands of times: %s", (_, [item], count) => {
  const model = createSurfaceModel();
  const long = "\u0435".repeat(40_000);
  const components = [
    { id: "root", component: "Column", children: { componentId: "item", path: "/items" } },
    { id: "item", ...item },
    { id: "long", component: "Text", text: long },
  ];
  const start = performance.now();
  const content: JsonValue = {
    a2ui_operations: [
      { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "c" } },
      { version: "v0.9", updateComponents: { surfaceId: "s", components } },
      {
        version: "v0.9",
        updateDataModel: {
          surfaceId: "s",
          path: "/",
          value: { long, items: Array.from({ length: count }, () => 1) },
        },
      },
    ],
  } as JsonValue;
  const facts = model.apply({
    kind: "activity",
    messageId: "m",
    activityType: "a2ui-surface",
    content,
  });
  expect(
    facts.problems.some(({ code, isUndecided }) => code === "surface/over-limit" && isUndecided),
  ).toBe(true);
  model.undo();
  expect(model.surfaces).toEqual([]);
  // Without the limit each takes from one to fifty seconds.
  expect(performance.now() - start).toBeLessThan(1_000);
});
