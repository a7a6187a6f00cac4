// The documentation as readers get it: every page has a place, the site builds without a dead link, and a browser can use it.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { findBrowser, startBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFaults } from "../apps/console/src/testing/axe.ts";
import { listPages, sitePathOf } from "../docs/.vitepress/pages.mjs";
import { listGroups } from "../docs/.vitepress/sidebar.mjs";
import { read, root } from "./sources.mjs";

const cache = join(root, "node_modules", ".cache");
mkdirSync(cache, { recursive: true });

/** Builds a folder as a site. The program runs beside the test: a blocked worker could not report to vitest. */
function build(folder, outDir) {
  const program = join(root, "node_modules", "vitepress", "bin", "vitepress.js");
  const options = { cwd: root, env: { ...process.env, NODE_ENV: "production" } };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "build", folder, "--outDir", outDir],
      options,
      (error, stdout, stderr) => resolve({ status: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}

test("every page has one place in the sidebar, and every entry of the sidebar is a page", () => {
  const listed = listGroups().flatMap((group) => group.pages);
  expect(listed.toSorted()).toEqual(listPages().toSorted());
  const withStray = [...listPages(), "docs/stray.md"];
  const placed = new Set(listGroups(withStray).flatMap((group) => group.pages));
  expect(withStray.filter((page) => !placed.has(page))).toEqual(["docs/stray.md"]);
});

test("no page is long, but for tables that a reader looks things up in and for records", () => {
  const limits = { "docs/start/": 1000, "docs/how-to/": 600, "docs/": 1500 };
  const tables = [
    "docs/decisions/",
    "docs/errors/",
    "docs/rules/README.md",
    "docs/policy/rules.md",
    "docs/reference/",
    "docs/redteam/behind-the-gateway.md",
    "docs/redteam/library.md",
    "docs/security/threat-model.md",
    "docs/wire/differences.md",
  ];
  const long = [];
  for (const page of listPages()) {
    const [, limit] = Object.entries(limits).find(([folder]) => page.startsWith(folder)) ?? [];
    if (limit === undefined || tables.some((table) => page.startsWith(table))) continue;
    const words = read(page)
      .replaceAll(/```[\s\S]*?```/g, "")
      .split(/\s+/).length;
    if (words > limit) long.push(`${page}: ${words} words, ${limit} allowed`);
  }
  expect(long).toEqual([]);
});

test("the build fails for a link that leads nowhere", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(cache, "dead-link-"));
  try {
    mkdirSync(join(folder, ".vitepress"));
    const site = JSON.stringify(join(root, "docs/.vitepress/config.mjs"));
    writeFileSync(
      join(folder, ".vitepress", "config.mjs"),
      `import site from ${site};\nexport default { ...site, srcDir: ".", rewrites: {}, buildEnd() {} };\n`,
    );
    writeFileSync(join(folder, "index.md"), "# Page\n\n[a page](missing.md)\n");
    const { status, output } = await build(folder, join(folder, "dist"));
    expect(output).toMatch(/dead link .*missing/);
    expect(status).not.toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("the built site", () => {
  let outDir;
  let built;
  beforeAll(async () => {
    outDir = mkdtempSync(join(cache, "site-"));
    built = await build("docs", outDir);
  }, 600_000);
  afterAll(() => rmSync(outDir, { recursive: true }));

  test("builds without an error, with every page as HTML and as Markdown", () => {
    expect(built.output).not.toMatch(/error|dead link/i);
    expect(built.status).toBe(0);
    for (const page of listPages()) {
      const path = join(outDir, sitePathOf(page));
      expect({ page, markdown: existsSync(path) }).toEqual({ page, markdown: true });
      expect({ page, html: existsSync(path.replace(/md$/, "html")) }).toEqual({ page, html: true });
    }
  });

  test("llms.txt names every page", () => {
    const text = readFileSync(join(outDir, "llms.txt"), "utf8");
    const named = [...text.matchAll(/\]\(\/([^)]+)\)/g)].map(([, path]) => path);
    expect(named.toSorted()).toEqual(listPages().map(sitePathOf).toSorted());
  });

  test("every diagram is drawn in the page", () => {
    for (const page of listPages()) {
      const sources = read(page).match(/^```mermaid$/gm) ?? [];
      if (sources.length === 0) continue;
      const html = readFileSync(join(outDir, sitePathOf(page).replace(/md$/, "html")), "utf8");
      const drawn = html.match(/class="diagram"[^>]*><svg/g) ?? [];
      expect({ page, diagrams: drawn.length }).toEqual({ page, diagrams: sources.length });
    }
  });

  describe.skipIf(findBrowser() === undefined)("in a browser", () => {
    let server;
    let origin;
    let browser;
    beforeAll(async () => {
      server = createServer((request, response) => serve(outDir, request.url, response));
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      origin = `http://127.0.0.1:${server.address().port}`;
      browser = await startBrowser();
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await new Promise((resolve) => server.close(resolve));
    });

    test(
      "a reader searches it by keyboard, and it asks no other host",
      { timeout: 120_000 },
      async () => {
        const page = await browser.newPage();
        const foreign = [];
        const errors = [];
        page.on("request", (request) => {
          const url = request.url();
          if (!url.startsWith(origin) && !url.startsWith("data:")) foreign.push(url);
        });
        page.on("pageerror", (error) => errors.push(String(error)));
        await page.goto(`${origin}/`, { waitUntil: "networkidle" });
        expect(await page.content()).not.toContain("&amp;ZeroWidthSpace;");
        await page.keyboard.press("Control+k");
        // The page for a task comes before the history of the product.
        await page.locator(".VPLocalSearchBox input").fill("open a tool");
        await page
          .locator(".VPLocalSearchBox .result.selected", { hasText: /Open a tool/ })
          .waitFor();
        await page.locator(".VPLocalSearchBox input").fill("capability");
        await page
          .locator(".VPLocalSearchBox .result.selected", { hasText: /capability/i })
          .waitFor();
        await page.keyboard.press("Enter");
        await page.waitForURL((url) => url.pathname !== "/");
        expect({ foreign, errors }).toEqual({ foreign: [], errors: [] });
        await page.close();
      },
    );

    test.each([1280, 390])(
      "no page has a fault that axe finds, light or dark, and none is wider than the screen: %i px",
      { timeout: 300_000 },
      async (width) => {
        const viewport = { width, height: 844 };
        const context = await browser.newContext({ colorScheme: "light", viewport });
        const page = await context.newPage();
        const faults = [];
        for (const path of LOOKED_AT) {
          await page.emulateMedia({ colorScheme: "light" });
          await page.goto(origin + path, { waitUntil: "networkidle" });
          faults.push(...(await findFaults(page)).map((fault) => `${path} ${fault}`));
          const beyond = await page.evaluate(
            () => document.documentElement.scrollWidth - innerWidth,
          );
          if (beyond > 0) faults.push(`${path} is ${beyond} px too wide`);
          // Only colours differ in the dark. A page that loads in the dark has no colour that is still changing.
          await page.emulateMedia({ colorScheme: "dark" });
          await page.reload({ waitUntil: "networkidle" });
          const dark = await findFaults(page, "color-contrast");
          faults.push(...dark.map((fault) => `${path} in the dark ${fault}`));
        }
        expect(faults).toEqual([]);
        await context.close();
      },
    );
  });
});

/** One page of each kind: home, tutorial, concepts, how-to, reference, explain. */
const LOOKED_AT = [
  "/",
  "/start/tutorial",
  "/concepts",
  "/how-to/jwt",
  "/policy/content",
  "/explain/alternatives",
];

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Serves a built site: an address without a suffix is a page. */
function serve(folder, url, response) {
  const { pathname } = new URL(url, "http://site");
  const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
  const path = join(folder, extname(name) === "" ? `${name}.html` : name);
  if (!existsSync(path)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  response.end(readFileSync(path));
}
