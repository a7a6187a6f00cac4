import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readCaseFile } from "../cases/case-file.js";
import { runCases } from "../cases/run-cases.js";
import { compilePolicy } from "../compile/compile.js";
import { loadPolicy } from "../document/load.js";

const OPEN = "ag_ui: { allow_display_without_capability: true }\n";

/** The YAML of a page: its policy and its cases. */
function yamlOf(page: string): string[] {
  const url = new URL(`../../../../docs/policy/${page}`, import.meta.url);
  const found = readFileSync(url, "utf8").matchAll(/```yaml\n([^`]+)```/gu);
  return [...found].map(([, text = ""]) => text);
}

test.each([
  ["surfaces.md", "surface-cases.md", 4],
  ["apps.md", undefined, 2],
] as const)("the policy of %s and its cases are valid and hold", (page, casePage, count) => {
  const texts = [...yamlOf(page), ...(casePage === undefined ? [] : yamlOf(casePage))];
  const [policy = "", ...cases] = texts.map((text) =>
    text.replaceAll("0f3a9c…", "0f3a9c").replaceAll("5d1c…", "a".repeat(64)),
  );
  const { file, issues } = readCaseFile(cases.join(""), page);
  expect(issues).toEqual([]);
  const { results } = runCases(compilePolicy(loadPolicy(OPEN + policy)), file?.cases ?? []);
  expect(results.flatMap(({ differences }) => differences)).toEqual([]);
  expect(results).toHaveLength(count);
});

test("the lines of the page about surfaces are enough to draw and to click", () => {
  const [policy = ""] = yamlOf("surfaces.md");
  const component = { component: "a2ui:Button", id: "s/b", label: "View", action: "view" };
  const catalogue = "https://a2ui.org/specification/v0_9/basic_catalog.json";
  const activity = { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "a2ui-surface" };
  const userAction = { name: "view", surfaceId: "s", sourceComponentId: "b" };
  const run = { threadId: "t", runId: "r", messages: [] };
  const { results } = runCases(compilePolicy(loadPolicy(OPEN + policy)), [
    {
      name: "draw",
      event: { ...activity, content: {} },
      surface: { catalogue, components: [component] },
      expect: { decision: "allow" },
    },
    {
      name: "click",
      event: { ...run, forwardedProps: { a2uiAction: { userAction } } },
      shown: { catalogue, components: [component] },
      expect: { decision: "allow" },
    },
  ]);
  expect(results.flatMap(({ differences }) => differences)).toEqual([]);
});
