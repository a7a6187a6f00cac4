import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../testing/run-program.js";
import { PRESETS } from "./presets.js";

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-presets-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each(Object.keys(PRESETS))(
  "what init --for %s writes is what serve accepts, in the mode of policy.yaml",
  async (framework) => {
    const directory = join(home, framework);
    await runProgram("init", directory, "--for", framework, "--tool", "show_map");
    const config = join(directory, "countersign.yaml");
    const { out } = await runProgram("serve", "--config", config, "--check", "--json");
    expect(out).toContain(`policy.${framework}.yaml`);
    const policy = readFileSync(join(directory, `policy.${framework}.yaml`), "utf8");
    expect(policy).toContain('{ match: "show_map", classification: display }');
    expect(policy).toContain("navigate_*");
  },
);

test("a framework that nobody measured is refused by the name of its option", async () => {
  await expect(runProgram("init", join(home, "no"), "--for", "unknown")).rejects.toMatchObject({
    message: expect.stringContaining("--for"),
  });
});
