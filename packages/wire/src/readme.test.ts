import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const packageRoot = fileURLToPath(new URL("../", import.meta.url));
const root = join(packageRoot, "../..");

/** The TypeScript blocks of a Markdown page. */
function blocksOf(page: string): string[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gmsu)].map(([, block]) => block ?? "");
}

test("every example in the README type-checks", { timeout: 120_000 }, () => {
  const blocks = blocksOf(readFileSync(join(packageRoot, "README.md"), "utf8"));
  expect(blocks.length).toBeGreaterThan(8);
  // Inside the package, so that its own name and its dependencies resolve.
  mkdirSync(join(packageRoot, "node_modules"), { recursive: true });
  const folder = mkdtempSync(join(packageRoot, "node_modules/.readme-"));
  try {
    for (const [index, block] of blocks.entries()) {
      writeFileSync(join(folder, `example-${index + 1}.ts`), `${block}\nexport {};\n`);
    }
    const config = { extends: join(root, "tsconfig.check.json"), include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const checked = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
    expect(checked.stdout).toBe("");
    expect(checked.status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
