import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test.each(Object.keys(PRESETS).filter((name) => PRESETS[name]?.cases !== undefined))(
  "the cases that init --for %s writes pass, observed and enforced",
  async (framework) => {
    const directory = join(home, `${framework}-cases`);
    await runProgram("init", directory, "--for", framework);
    const starter = join(directory, "policy.yaml");
    const cases = join(directory, `policy.${framework}.test.yaml`);
    for (const mode of ["observe", "enforce"]) {
      const text = readFileSync(starter, "utf8");
      writeFileSync(starter, text.replace(/^mode: \w+$/mu, `mode: ${mode}`));
      const { out } = await runProgram("policy", "test", cases, "--json");
      const { files } = JSON.parse(out) as { files: { results: { differences: string[] }[] }[] };
      const results = files.flatMap((file) => file.results);
      expect(results.length).toBeGreaterThan(1);
      expect(results.flatMap(({ differences }) => differences)).toEqual([]);
    }
  },
);

test.each(Object.entries(PRESETS))(
  "policy explain says of everything that the preset %s opens that it passes",
  async (framework, preset) => {
    const directory = join(home, `${framework}-explained`);
    await runProgram("init", directory, "--for", framework, "--tool", "show_map");
    const policy = join(directory, `policy.${framework}.yaml`);
    const sample = (pattern: string): string => pattern.replaceAll("*", "x");
    const names = [
      ...(preset.interrupts ?? []).map((reason) => `interrupt:${sample(reason)}`),
      ...(preset.custom ?? []).map((name) => `custom:${sample(name)}`),
      ...(preset.raw ?? []).flatMap((source) => ["raw", `raw:${sample(source)}`]),
      ...(preset.activities ?? []).map((type) => `activity:${sample(type)}`),
      ...(preset.forwardedProps ?? []).map((key) => `forwardedProps:${key}`),
      ...(preset.state ?? []).map(() => "state:/anything"),
      "tool:show_map",
      ...(preset.tools ?? []).map((tool) => `tool:${tool}`),
      "input:resume",
      "input:tool_result",
    ];
    for (const name of names) {
      const { out } = await runProgram("policy", "explain", name, "--policy", policy, "--json");
      const { openings } = JSON.parse(out) as { openings: { about: string; opening: object }[] };
      const meant = openings.filter(
        ({ about }) => !name.startsWith("custom:") || about.startsWith("a CUSTOM event"),
      );
      expect([
        name,
        meant.length > 0,
        meant.filter(({ opening }) => !("passes" in opening)),
      ]).toEqual([name, true, []]);
    }
  },
);

test("an unknown framework is refused by the name of its option", async () => {
  await expect(runProgram("init", join(home, "no"), "--for", "unknown")).rejects.toMatchObject({
    message: expect.stringContaining("--for"),
  });
});
