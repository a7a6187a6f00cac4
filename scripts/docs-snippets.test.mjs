// Examples in the docs are code: every TypeScript block of every page type-checks against the sources.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesBelow, read, root } from "./sources.mjs";

/** The TypeScript blocks of a page, with the language that names them. */
function blocksOf(page) {
  return [...read(page).matchAll(/^```(tsx?)\n(.*?)^```$/gmsu)].map(([, language, code]) => ({
    language,
    code,
  }));
}

test("every TypeScript example in the docs type-checks", { timeout: 180_000 }, () => {
  const pages = filesBelow(".", (name) => name.endsWith(".md"));
  const examples = pages.flatMap((page) =>
    blocksOf(page).map((block, index) => ({
      ...block,
      name: `${page.replaceAll(/\W+/g, "-")}-${index + 1}`,
    })),
  );
  expect(examples.length).toBeGreaterThan(5);
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "snippets-"));
  try {
    for (const { name, language, code } of examples) {
      writeFileSync(join(folder, `${name}.${language}`), `${code}\nexport {};\n`);
    }
    const config = {
      extends: join(root, "tsconfig.check.json"),
      include: ["*.ts", "*.tsx"],
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const checked = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
    expect(checked.stdout).toBe("");
    expect(checked.status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
