import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "../index.js";
import type { SurfaceFacts, SurfaceModel } from "../index.js";
import { ExecutedBlocks } from "../testing/executed-blocks.js";
import type { Cost } from "../testing/measured-model.js";

/** Set to more for a long run. */
const RUNS = Math.ceil(Number(process.env["SURFACE_RUNS"] ?? 1_000) / 80);
/**
 * An event and its undo run at most so many times the blocks of a surface of 5,000 components. The worst of 150 generated runs is 9.5;
 * a payload that is not bounded runs hundreds of times as many.
 */
const MAX_RATIO = 16;

let blocks: ExecutedBlocks | undefined;
let reference: number;

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const OPEN = { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "c" } };
const update = (...components: object[]): object => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s", components },
});
const write = (path: string, value: unknown): object => ({
  version: "v0.9",
  updateDataModel: { surfaceId: "s", path, value },
});
const action = (context: object = {}): object => ({ event: { name: "go", context } });

function apply(model: SurfaceModel, operations: readonly object[]): SurfaceFacts {
  const content = { a2ui_operations: operations } as unknown as JsonValue;
  return model.apply({ kind: "result", toolCallId: "c", content });
}
const isUndecided = ({ problems }: SurfaceFacts): boolean =>
  problems.some((problem) => problem.isUndecided);

/** 5,000 components: a list of cards with texts, a formatted text and a button. */
const LEGITIMATE = [
  OPEN,
  write("/", {
    items: times(714, (index) => ({ name: `Customer ${index}`, id: `order-${index}` })),
  }),
  update(
    { id: "root", component: "List", children: { componentId: "card", path: "/items" } },
    { id: "card", component: "Card", child: "row" },
    { id: "row", component: "Row", children: ["name", "order", "note", "open"] },
    { id: "name", component: "Text", text: { path: "name" } },
    {
      id: "order",
      component: "Text",
      text: { call: "formatString", args: { value: "Order ${id} of ${name}" } },
    },
    { id: "note", component: "Text", text: "Paid" },
    { id: "open", component: "Button", child: "label", action: action({ id: { path: "id" } }) },
    { id: "label", component: "Text", text: "Open" },
  ),
];

const size = (max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 1, max }), fc.constant(max));

/** Components that cost much by themselves; a list of thousands of items draws them. */
const leaf: fc.Arbitrary<object[]> = fc.oneof(
  fc.constant<object[]>([{ id: "leaf", component: "Text", text: { path: "/a" } }]),
  fc
    .tuple(size(12_000), fc.constantFrom("${/a}", "${n}", "${'x'}", "${not(value: /a)}", "x"))
    .map(([count, part]) => [
      {
        id: "leaf",
        component: "Text",
        text: { call: "formatString", args: { value: part.repeat(count) } },
      },
    ]),
  fc.tuple(size(99), size(60_000)).map(([depth, length]) => {
    const value = `${"${".repeat(depth)}${"a".repeat(length)}${"}".repeat(depth)}`;
    return [{ id: "leaf", component: "Text", text: { call: "formatString", args: { value } } }];
  }),
  fc
    .tuple(size(950), fc.constantFrom<unknown>({ path: "/a" }, { path: "/" }, 1, "x"))
    .map(([count, value]) => [
      {
        id: "leaf",
        component: "Button",
        child: "text",
        action: action(Object.fromEntries(times(count, (index) => [`k${index}`, value]))),
      },
      { id: "text", component: "Text", text: "x" },
    ]),
  size(1_900).map((count) => [
    { id: "leaf", component: "Column", children: times(count, (index) => `none${index}`) },
  ]),
  size(1_900).map((count) => [
    { id: "leaf", component: "Other", rows: times(count, (index) => ({ path: `/a/${index}` })) },
  ]),
  fc.constant<object[]>([
    { id: "leaf", component: "TextField", label: { path: "/a" }, value: { path: "/a" } },
  ]),
  fc.tuple(size(90), fc.constantFrom("Card", "Button")).map(([depth, component]) => [
    ...times(depth, (index) => ({
      id: index === 0 ? "leaf" : `below${index}`,
      component,
      child: `below${index + 1}`,
      action: action(),
    })),
    { id: `below${depth}`, component: "Text", text: { path: "/a" } },
  ]),
  // Every component of a level draws many of the next one.
  fc.tuple(size(60), size(40), size(30)).map(([levels, width, children]) => [
    { id: "leaf", component: "Column", children: times(width, (index) => `at0-${index}`) },
    ...times(levels * width, (at) => {
      const [level, index] = [Math.floor(at / width), at % width];
      const below = times(children, (child) => `at${level + 1}-${(index + child) % width}`);
      return { id: `at${level}-${index}`, component: "Row", children: below };
    }),
  ]),
  size(250).map((count) => [
    { id: "leaf", component: "Button", child: "all", action: action() },
    { id: "all", component: "Row", children: times(count, () => "text") },
    { id: "text", component: "Text", text: { path: "/a" } },
  ]),
);

const value = fc.constantFrom<unknown>(
  "x",
  "",
  "long ".repeat(2_000),
  times(2_000, () => 1),
  null,
);
/** Operations that change what is drawn, many times over. */
const change = fc
  .tuple(
    fc.constantFrom<(given: unknown, index: number) => object>(
      (given) => write("/a", given),
      (given, index) => write(index % 2 === 0 ? "/" : "/items", index % 2 === 0 ? {} : [given]),
      (given, index) => write(`/items/${index}/n`, given),
      (_, index) =>
        write(
          "/items",
          times(index % 2 === 0 ? 5_900 : 1, () => 1),
        ),
      (_, index) => write(`/holes/${index * 900}/x`, 1),
      (given, index) => update({ id: "leaf", component: "Text", text: `${index}`, given }),
      (_, index) =>
        update({ id: "root", component: "Column", children: index % 2 ? ["list"] : [] }),
      (_, index) =>
        index % 2 === 0 ? { version: "v0.9", deleteSurface: { surfaceId: "s" } } : OPEN,
      (_, index) => ({
        version: "v0.9",
        createSurface: { surfaceId: `s${index}`, catalogId: "c" },
      }),
    ),
    value,
    size(2_000),
  )
  .map(([make, given, count]) => {
    const weight = JSON.stringify([make(given, 0), make(given, 1)]).length / 2;
    return times(Math.min(count, Math.ceil(500_000 / weight)), (index) => make(given, index));
  });

const payloads = fc
  .tuple(size(5_900), leaf, value, fc.array(change, { minLength: 1, maxLength: 2 }))
  .map(([items, components, a, changes]) => {
    const drawn = [
      OPEN,
      write("/", { a, items: times(items, (n) => ({ n })) }),
      update(
        { id: "root", component: "Column", children: ["list"] },
        { id: "list", component: "List", children: { componentId: "leaf", path: "/items" } },
        ...components,
      ),
    ];
    const short = JSON.stringify([items, components]).slice(0, 300);
    const of = changes.map(
      (list) => `${list.length} × ${JSON.stringify(list.slice(0, 2)).slice(0, 200)}`,
    );
    const events = [drawn, ...changes];
    return { events, [fc.toStringMethod]: () => [short, ...of].join("\n") };
  });

async function costsOf(events: readonly (readonly object[])[]): Promise<readonly Cost[]> {
  if (blocks === undefined) throw new Error("the thread that counts was not started");
  return blocks.of(events);
}

beforeAll(async () => {
  blocks = await ExecutedBlocks.start();
  // The first event also sets up the tables of its modules.
  await costsOf([LEGITIMATE]);
  reference = (await costsOf([LEGITIMATE]))[0]?.applied ?? 0;
});
afterAll(() => blocks?.dispose());

test("the surface that costs are compared with has 5,000 components", () => {
  const facts = apply(createSurfaceModel(), LEGITIMATE);
  expect([facts.components.length, facts.problems]).toEqual([4_999, []]);
});

test("the cost of an event is the same whenever it is counted", async () => {
  expect(reference).toBeGreaterThan(100_000);
  for (const [again] of [await costsOf([LEGITIMATE]), await costsOf([LEGITIMATE])]) {
    expect(again).toEqual({ applied: reference, undone: 0 });
  }
});

test(
  "no event and its undo cost more than a few times a surface of 5,000 components",
  async () => {
    let worst = 0;
    const property = fc.asyncProperty(payloads, async ({ events }) => {
      for (const { applied, undone } of await costsOf(events)) {
        const ratio = (applied + undone) / reference;
        worst = Math.max(worst, ratio);
        expect(ratio).toBeLessThan(MAX_RATIO);
      }
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    expect(worst).toBeGreaterThan(1);
  },
  60_000 + RUNS * 5_000,
);

test("a surface of 5,000 components is drawn, redrawn, drawn alone and taken back", () => {
  const model = createSurfaceModel();
  const activity = (operations: readonly object[]): SurfaceFacts => {
    const content = { a2ui_operations: operations } as unknown as JsonValue;
    return model.apply({ kind: "activity", messageId: "m", activityType: "a2ui-surface", content });
  };
  expect(
    activity([...LEGITIMATE, update({ id: "more", component: "Text", text: "x" })]),
  ).toMatchObject({
    problems: [],
  });
  const items = times(714, (index) => ({ name: `Other ${index}`, id: `new-${index}` }));
  const redrawn = activity([LEGITIMATE[0] ?? {}, write("/", { items }), LEGITIMATE[2] ?? {}]);
  expect(redrawn.problems).toEqual([]);
  expect(redrawn.components.length).toBeGreaterThan(2_000);
  model.undo();
  expect(model.component("s", "name", "/items/0")?.label).toBe("Customer 0");
});

test("data over its limit is undecided also when it comes later or as holes of a list", () => {
  const drawn = [OPEN, update({ id: "root", component: "Text", text: { path: "/a" } })];
  const later = createSurfaceModel();
  apply(later, drawn);
  expect(
    isUndecided(
      apply(later, [
        write(
          "/big",
          times(100_000, () => 0),
        ),
      ]),
    ),
  ).toBe(true);
  const holes = createSurfaceModel();
  apply(holes, [...drawn, write("/list", [])]);
  const gaps = times(150, (index) => write(`/list/${index * 1_000}`, 0));
  expect(isUndecided(apply(holes, gaps))).toBe(true);
});

test("a surface whose change could not be taken back in time has no actions, until it is drawn", () => {
  const button = [
    OPEN,
    update(
      { id: "root", component: "Column", children: { componentId: "b", path: "/items" } },
      { id: "b", component: "Button", child: "t", action: action() },
      { id: "t", component: "Text", text: { path: "/a" } },
    ),
  ];
  const items = times(40, (index) => index);
  const model = createSurfaceModel({ limits: { maxSteps: 1_000 } });
  // Each event is within the limit; the surface as a whole is not.
  apply(model, button);
  for (const length of [10, 20, 30, 40]) {
    expect(isUndecided(apply(model, [write("/items", items.slice(0, length))]))).toBe(false);
  }
  expect(model.findAction("s", "b", "go")).toBeDefined();
  apply(model, [write("/items", [])]);
  model.undo();
  expect(model.findAction("s", "b", "go")).toBeUndefined();
  apply(model, [write("/other", 1)]);
  expect(model.findAction("s", "b", "go")).toBeDefined();
});
