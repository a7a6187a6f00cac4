import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** The violations that axe finds in a page, one line per element; of one rule if it is named. */
export async function findFaults(page: Page, rule?: string): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = {
    resultTypes: ["violations"],
    preload: false,
    ...(rule === undefined ? {} : { runOnly: [rule] }),
  };
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})`,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${String(node.target)} ${node.failureSummary ?? ""}`),
  );
}
