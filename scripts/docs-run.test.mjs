// What a reader copies from these pages works: every command is run, and prints what the page says.
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runPage } from "./run-page.mjs";
import { root } from "./sources.mjs";

test.each([
  ["docs/start/tutorial.md", 12],
  ["docs/start/typescript.md", 4],
  ["docs/how-to/langgraph.md", 1],
  ["docs/how-to/copilotkit.md", 1],
  ["docs/how-to/read-a-denial.md", 2],
  ["docs/how-to/open-a-tool.md", 2],
  ["docs/how-to/rotate-keys.md", 1],
  ["docs/how-to/red-team-in-ci.md", 1],
])("every command of %s does what the page says", { timeout: 300_000 }, async (page, commands) => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-page-"));
  try {
    // Packages that a page imports are those of the repository.
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    expect(await runPage(page, folder)).toBe(commands);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
