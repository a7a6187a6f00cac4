import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** The violations that axe finds in a page, one line per element. */
export async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'], preload: false })",
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${String(node.target)} ${node.failureSummary ?? ""}`),
  );
}
