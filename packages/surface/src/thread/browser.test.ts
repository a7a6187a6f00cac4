import { rmSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBrowser, startBrowser } from "@countersign/testkit";
import * as fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "../index.js";
import type { SurfaceComponent } from "../index.js";
import type { DrawnPage } from "../testing/official-page.js";
import { OPEN, operation } from "../testing/surfaces.js";

/** Set to more for a long run. */
const BATCHES = Math.ceil(Number(process.env["SURFACE_RUNS"] ?? 400) / 40);
const TIMEOUT = 30_000 + BATCHES * 2_000;
const isMissing = findBrowser() === undefined;

let browser: Browser | undefined;
let server: Server | undefined;
let page: Page;

beforeAll(async () => {
  if (isMissing) return;
  const folder = mkdtempSync(join(tmpdir(), "countersign-surface-"));
  const input = new URL("../testing/official-page.ts", import.meta.url).pathname;
  await build({
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: { input, output: { entryFileNames: "page.js" } },
    },
  });
  const script = readFileSync(join(folder, "page.js"));
  rmSync(folder, { recursive: true });
  server = createServer(({ url }, response) => {
    const isScript = url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
  page = await browser.newPage();
  // The test compares the URLs of a surface and does not load them.
  await page.route(/./, (route) =>
    [`${origin}/`, `${origin}/page.js`].includes(route.request().url())
      ? route.continue()
      : route.abort(),
  );
  await page.goto(origin);
  await page.waitForFunction("globalThis.draw !== undefined");
});
afterAll(async () => {
  await browser?.close();
  server?.close();
});

const PATHS = ["/title", "/items/0/name", "/url", "/list", "name"];
const dynamic = fc.oneof(
  fc.constantFrom("View", "Delete all", "https://a.example/x"),
  fc.constantFrom(...PATHS).map((path) => ({ path })),
);
const below = fc.constantFrom("a", "b", "c", "d");
/** Components that the other tests of official renderers do not draw. */
const drawnOnly = fc.oneof(
  fc.record({ component: fc.constantFrom("Video", "AudioPlayer"), url: dynamic }),
  fc.record({
    component: fc.constant("CheckBox"),
    label: dynamic,
    value: fc.constant({ path: "/n" }),
  }),
  fc.record({
    component: fc.constant("Button"),
    child: below,
    action: fc.record({
      event: fc.record({
        name: fc.constant("pay"),
        context: fc.dictionary(fc.constantFrom("x", "y"), dynamic),
      }),
    }),
  }),
);
const more = fc.tuple(below, drawnOnly).map(([id, rest]) => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s", components: [{ id, ...rest }] },
}));
const list = fc.constantFrom<JsonValue>(
  ["https://c.example/x"],
  ["View", "all"],
  { a: "Delete" },
  7,
  true,
);
const written = fc.tuple(fc.constantFrom("/url", "/title", "/list"), list).map(([path, value]) => ({
  version: "v0.9",
  updateDataModel: { surfaceId: "s", path, value },
}));
const column = { id: "root", component: "Column", children: ["a", "b", "c", "d"] };
const surface = fc
  .array(fc.oneof(operation, more, written) as fc.Arbitrary<JsonValue>, {
    minLength: 2,
    maxLength: 8,
  })
  .map((operations): JsonValue[] => [
    OPEN,
    { version: "v0.9", updateComponents: { surfaceId: "s", components: [column] } },
    ...operations,
  ]);

/** The parts of a button: some are drawn only after a click, some never. */
type Part = { readonly props: Record<string, JsonValue>; readonly below: Record<string, Part[]> };
const words = fc.oneof(
  fc.constantFrom("View", "Delete", "Pay now", ""),
  fc.constantFrom("/word", "/other", "/list").map((path) => ({ path })),
) as fc.Arbitrary<JsonValue>;
const props = (shape: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<Part> =>
  fc.record(shape).map((one) => ({ props: one as Record<string, JsonValue>, below: {} }));
const is = (component: string) => ({ component: fc.constant<JsonValue>(component) });
const url = { url: fc.constant<JsonValue>("https://a.example/x") };
const flag = fc.boolean() as fc.Arbitrary<JsonValue>;
const click = fc.constant<JsonValue>({ event: { name: "pay", context: {} } });
const { part: partOfButton } = fc.letrec<{ part: Part; parts: Part[] }>((tie) => {
  const holding = (
    component: string,
    slots: Record<string, fc.Arbitrary<Part[]>>,
    more: Record<string, fc.Arbitrary<JsonValue>> = {},
  ): fc.Arbitrary<Part> =>
    fc
      .tuple(props({ ...is(component), ...more }), fc.record(slots))
      .map(([one, below]) => ({ ...one, below: below as Part["below"] }));
  const one = tie("part").map((part) => [part as Part]);
  const some = fc.array(tie("part"), { minLength: 1, maxLength: 3 }) as fc.Arbitrary<Part[]>;
  return {
    parts: fc.array(tie("part"), { maxLength: 3 }) as fc.Arbitrary<Part[]>,
    part: fc.oneof(
      { maxDepth: 4, depthSize: "medium" },
      props({ ...is("Text"), text: words }),
      props({ ...is("Image"), ...url, description: words }),
      props({ ...is("Video"), ...url }),
      props({ ...is("AudioPlayer"), ...url, description: words }),
      props({ ...is("Icon"), name: fc.constantFrom<JsonValue>("delete", "close") }),
      props({ ...is("CheckBox"), label: words, value: fc.constant<JsonValue>({ path: "/n" }) }),
      props({ ...is("TextField"), label: words, value: fc.constant<JsonValue>({ path: "/n" }) }),
      props({
        ...is("DateTimeInput"),
        label: words,
        value: fc.constant<JsonValue>(""),
        enableDate: flag,
        enableTime: flag,
      }),
      holding("Column", { children: tie("parts") as fc.Arbitrary<Part[]> }),
      holding("Row", { children: tie("parts") as fc.Arbitrary<Part[]> }),
      holding("Card", { child: one }),
      holding("Modal", { trigger: one, content: one }),
      holding("Tabs", { tabs: some }, { title: words }),
      holding("Button", { child: one }, { action: click }),
    ),
  };
});

/** The components of a part; ids are counted from the ones that are there. */
function flatten({ props: own, below }: Part, into: JsonValue[], id: string): void {
  const { title, ...rest } = own;
  const component: Record<string, JsonValue> = { id, ...rest };
  into.push(component);
  for (const [slot, parts] of Object.entries(below)) {
    const ids = parts.map((part) => {
      const child = `p${into.length}`;
      flatten(part, into, child);
      return child;
    });
    if (slot === "children") component[slot] = ids;
    else if (slot === "tabs") component[slot] = ids.map((child) => ({ title: title ?? "", child }));
    else component[slot] = ids[0] ?? "";
  }
}

const button = fc
  .tuple(partOfButton, words, fc.constantFrom<JsonValue>("View", ["View", "Delete"], { a: "Pay" }))
  .map(([part, word, listed]): JsonValue[] => {
    const components: JsonValue[] = [
      { id: "root", component: "Button", child: "p1", action: { event: { name: "go" } } },
    ];
    flatten(part, components, "p1");
    const value = { word: typeof word === "string" ? word : "x", other: "Delete", list: listed };
    return [
      OPEN,
      { version: "v0.9", updateComponents: { surfaceId: "s", components } },
      { version: "v0.9", updateDataModel: { surfaceId: "s", path: "/", value } },
    ];
  });

/** The components of a surface in the order of drawing; undefined when it would be blocked. */
function judged(operations: JsonValue[]): readonly SurfaceComponent[] | undefined {
  const model = createSurfaceModel();
  const content = { a2ui_operations: operations };
  const { problems } = model.apply({ kind: "result", toolCallId: "c", content });
  if (problems.some(({ isUndecided }) => isUndecided)) return undefined;
  return model
    .drawings("c", 10_000)
    .flatMap((one) => one.components.map(({ component }) => component));
}

const joined = (text: string): string =>
  text.replaceAll(/\[Loading [^\]]*\.\.\.\]/g, "").replaceAll(/\s+/g, "");

/** The parts of the page that were not judged. */
function differences(components: readonly SurfaceComponent[], drawn: DrawnPage): string[] {
  const found: string[] = [];
  const urls = new Set(components.flatMap((one) => one.urls.map(({ value }) => value)));
  for (const url of drawn.urls) if (!urls.has(url)) found.push(`URL ${url}`);
  const labels = new Set(components.flatMap((one) => one.inputs.map(({ label }) => joined(label))));
  const isExact = components.every((one) => one.isLabelExact);
  for (const label of drawn.labels) {
    if (isExact && !labels.has(joined(label))) {
      found.push(`label ${label}, not ${[...labels].join(" or ")}`);
    }
  }
  const buttons = components.filter(({ componentType }) => componentType === "a2ui:Button");
  for (const { text, actions } of drawn.buttons) {
    // A click on a button inside of another one is a click on both.
    const [click] = actions as unknown as Click[];
    if (click === undefined) continue;
    const match = buttons.find(
      (one) =>
        one.id === click.sourceComponentId &&
        one.surfaceId === click.surfaceId &&
        (!one.isLabelExact || joined(one.label) === joined(text)) &&
        one.actions.some(
          ({ name, context }) =>
            name === click.name && JSON.stringify(context) === plain(click.context),
        ),
    );
    const judgedAs = buttons.map((one) => [one.id, one.scope, one.label, one.actions]);
    if (match === undefined) found.push(`${text} ${plain(click)}, not ${plain(judgedAs)}`);
  }
  return found;
}
type Draw = (text: string) => DrawnPage[];
type Click = { name: string; surfaceId: string; sourceComponentId: string; context: JsonValue };

function drawAll(surfaces: readonly JsonValue[][]): Promise<DrawnPage[]> {
  return page.evaluate(
    (text) => (globalThis as unknown as { draw: Draw }).draw(text),
    JSON.stringify(surfaces),
  );
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => inner ?? null);
}

test.skipIf(isMissing)(
  "what was judged is what the official renderer draws, loads and sends on a click (needs Chromium)",
  async () => {
    let compared = 0;
    const batches = fc.array(surface, { minLength: 40, maxLength: 40 });
    const property = fc.asyncProperty(batches, async (surfaces) => {
      const decided = surfaces.flatMap((operations) => {
        const components = judged(operations);
        return components === undefined ? [] : [{ operations, components }];
      });
      const given = decided.map(({ operations }) => operations);
      const pages = await drawAll(given);
      expect(pages).toHaveLength(given.length);
      const found = pages.flatMap((drawn, index) => {
        const { components = [], operations } = decided[index] ?? {};
        compared += drawn.buttons.length + drawn.urls.length + drawn.labels.length;
        return differences(components, drawn).map((one) => ({ one, operations }));
      });
      expect(found).toEqual([]);
    });
    await fc.assert(property, { numRuns: BATCHES, endOnFailure: true });
    expect(compared).toBeGreaterThan(BATCHES * 10);
  },
  TIMEOUT,
);

/** The texts of buttons that are on the screen and that were not judged as such. */
function hiddenDifferences(components: readonly SurfaceComponent[], drawn: DrawnPage): string[] {
  // A text joins the items of a list with commas, a label does not; objects have no words.
  const spelled = (text: string): string => joined(text).replaceAll(/,|\[objectObject\]/g, "");
  return drawn.buttons.flatMap(({ visible, actions }) => {
    const [first] = actions as unknown as Click[];
    if (first === undefined) return [];
    const match = components.find(({ id }) => id === first.sourceComponentId);
    const judgedAs = match?.visibleLabel ?? "nothing";
    return spelled(judgedAs) === spelled(visible) ? [] : [`${visible}, not ${judgedAs}`];
  });
}

test.skipIf(isMissing)(
  "the visible label of a button is the text that the official renderer has on the screen (needs Chromium)",
  async () => {
    let hidden = 0;
    const batches = fc.array(button, { minLength: 40, maxLength: 40 });
    const property = fc.asyncProperty(batches, async (surfaces) => {
      const decided = surfaces.flatMap((operations) => {
        const components = judged(operations);
        return components === undefined ? [] : [{ operations, components }];
      });
      const pages = await drawAll(decided.map(({ operations }) => operations));
      expect(pages).toHaveLength(decided.length);
      const found = pages.flatMap((drawn, index) => {
        const { components = [], operations } = decided[index] ?? {};
        const isHidden = components.some(({ label, visibleLabel }) => label !== visibleLabel);
        if (isHidden) hidden += drawn.buttons.length;
        return hiddenDifferences(components, drawn).map((one) => `${one}: ${plain(operations)}`);
      });
      expect(found).toEqual([]);
    });
    await fc.assert(property, { numRuns: BATCHES, endOnFailure: true });
    expect(hidden).toBeGreaterThan(BATCHES * 10);
  },
  TIMEOUT,
);
