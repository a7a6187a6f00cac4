import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Result = {
  violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[];
};

/** What axe finds wrong with a page, one line for each place. */
export async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const { violations } = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] })",
  )) as Result;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${String(node.target)} ${node.failureSummary ?? ""}`),
  );
}
