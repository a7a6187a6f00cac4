import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { librarySources, loadSources, runSuite, writeHtml } from "@countersign/redteam";
import {
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "@countersign/redteam/agents";
import { findBrowser, startBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFaults } from "../../../../console/src/testing/axe.js";

const isMissing = findBrowser() === undefined;
/** A browser on a busy machine. */
const PATIENCE = 180_000;
const folder = mkdtempSync(join(tmpdir(), "redteam-page-"));
const address = pathToFileURL(join(folder, "report.html")).href;
let browser: Awaited<ReturnType<typeof startBrowser>>;

beforeAll(async () => {
  const agents = [
    await serveAgent(createVulnerableAgent()),
    await serveAgent(createHardenedAgent()),
  ] as const;
  const chosen = /^agui-0(?:01|43|50)/;
  const sources = [
    ...librarySources().filter(({ name }) => chosen.test(name)),
    { name: "broken.yaml", text: "oatf: [" },
  ];
  const report = await runSuite(loadSources(sources), {
    target: agents[0].url,
    through: agents[1].url,
  });
  // One attack works both ways, so that the page has an open finding.
  const entries = report.entries.map((entry) =>
    entry.id === "AGUI-050" ? { ...entry, through: entry.direct } : entry,
  );
  writeFileSync(join(folder, "report.html"), writeHtml({ ...report, entries }));
  await Promise.all(agents.map((agent) => agent.close()));
  if (!isMissing) browser = await startBrowser();
}, PATIENCE);

afterAll(async () => {
  if (!isMissing) await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(isMissing).each([
  ["light", 1280, 800],
  ["dark", 1280, 800],
  ["light", 390, 844],
  ["dark", 390, 844],
] as const)(
  "the report has no fault that axe finds and no sideways scroll, closed and open: %s at %i px",
  async (colorScheme, width, height) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height } });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => {
      if (request.url() !== address) faults.push(request.url());
    });
    await page.goto(address);
    for (const state of ["closed", "open"]) {
      await page.evaluate(
        `for (const one of document.querySelectorAll("details")) one.open = ${state === "open"}`,
      );
      faults.push(...(await findFaults(page)).map((fault) => `${state} ${fault}`));
      const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      if (Number(beyond) > 0) faults.push(`${state} is ${String(beyond)} too wide`);
    }
    expect(faults).toEqual([]);
    await context.close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the page opens with the summary, then open findings; filters and search work from the keyboard",
  async () => {
    const page = await browser.newPage();
    await page.goto(address);
    const headings = await page.locator("h2").allTextContents();
    expect(headings).toEqual(["Summary", "Open findings 1", "Not decided 1", "Closed 2"]);
    const visible = (): Promise<string[]> =>
      page.locator("details.doc:visible > summary > code").allTextContents();
    expect((await visible()).slice(0, 2)).toEqual(["AGUI-050", "broken.yaml"]);
    expect(await page.locator("#AGUI-050 .fix").textContent()).toContain("ag_ui_content.words");
    await page.keyboard.press("/");
    await page.keyboard.type("IMAGE address");
    expect(await visible()).toEqual(["AGUI-043"]);
    expect(await page.locator("#shown").textContent()).toBe("1 of 4 documents.");
    await page.keyboard.press("Escape");
    expect(await visible()).toHaveLength(4);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    expect(await visible()).not.toContain("AGUI-050");
    await page.evaluate(`location.hash = "AGUI-050"`);
    await page.locator("#AGUI-050 .body").waitFor();
    expect(await visible()).toHaveLength(4);
    await page.close();
  },
  PATIENCE,
);
