import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import { loadConfig } from "./load.js";

const PAGE = readFileSync(new URL("../../../../docs/access.md", import.meta.url), "utf8");
const SAMPLES = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

test("every sample on the page about access loads", () => {
  expect(SAMPLES).toHaveLength(5);
  for (const text of SAMPLES) {
    expect(() => loadConfig(text, { file: "countersign.yaml", environment: {} })).not.toThrow();
  }
});

test.each(["jwt", "postgresql"])("every configuration in docs/how-to/%s.md loads", (name) => {
  const page = readFileSync(new URL(`../../../../docs/how-to/${name}.md`, import.meta.url), "utf8");
  const samples = [...page.matchAll(/```yaml\n(# countersign\.yaml\n[\s\S]*?)```/g)];
  expect(samples.length).toBeGreaterThan(0);
  const environment = { DATABASE_URL: "postgres://localhost/countersign" };
  for (const [, text = ""] of samples) {
    expect(() => loadConfig(text, { file: "countersign.yaml", environment })).not.toThrow();
  }
});

test("the page shows every limit at its default", () => {
  const sample = SAMPLES.find((text) => text.startsWith("limits:")) ?? "";
  const { limits } = loadConfig(sample, { file: "countersign.yaml", environment: {} });
  expect(limits).toEqual(DEFAULT_LISTEN_LIMITS);
  expect(sample.match(/^ {2}\w+: /gm)).toHaveLength(Object.keys(DEFAULT_LISTEN_LIMITS).length + 1);
});
