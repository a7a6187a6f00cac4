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
  // What surfaces load is compared, and not loaded.
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

const words = (text: string): string =>
  text.replaceAll(/\[Loading [^\]]*\.\.\.\]/g, "").replaceAll(/\s+/g, "");

/** What the page has that was not judged. */
function differences(components: readonly SurfaceComponent[], drawn: DrawnPage): string[] {
  const found: string[] = [];
  const urls = new Set(components.flatMap((one) => one.urls.map(({ value }) => value)));
  for (const url of drawn.urls) if (!urls.has(url)) found.push(`URL ${url}`);
  const labels = new Set(components.flatMap((one) => one.inputs.map(({ label }) => words(label))));
  const isExact = components.every((one) => one.isLabelExact);
  for (const label of drawn.labels) {
    if (isExact && !labels.has(words(label))) {
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
        (!one.isLabelExact || words(one.label) === words(text)) &&
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
      const pages = await page.evaluate(
        (text) => (globalThis as unknown as { draw: Draw }).draw(text),
        JSON.stringify(given),
      );
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
);
