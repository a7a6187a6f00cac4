// The dashboard and the alerts in deploy/: every expression parses, and names metrics and labels that a gateway has.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_DOCUMENT_LIMITS, readYaml } from "@countersign/policy/yaml";
import { parser } from "@prometheus-io/lezer-promql";
import { expect, test } from "vitest";
import { METRICS } from "./catalogue.js";
import type { MetricFacts } from "./catalogue.js";

const deploy = new URL("../../../../deploy/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, deploy), "utf8");
const readRules = (name: string): unknown => {
  const { value, issues } = readYaml(read(name), name, DEFAULT_DOCUMENT_LIMITS);
  expect(issues).toEqual([]);
  return value;
};

type Rule = { alert: string; expr: string; labels: object; annotations: Record<string, string> };
const { groups } = readRules("prometheus/countersign.rules.yaml") as {
  groups: [{ rules: Rule[] }];
};
const [{ rules }] = groups;

type Panel = {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
};
const dashboard = JSON.parse(read("grafana/countersign.json")) as {
  panels: Panel[];
  annotations: { list: { expr: string }[] };
  templating: { list: { name: string; query: { query?: string } | string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== "row");

/** An expression as Grafana sends it. */
const filledIn = (expr: string): string =>
  expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(job|instance)/gu, ".*");

const expressions = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr]),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, filledIn(expr)]),
  ),
  ...dashboard.annotations.list.map(({ expr }) => ["annotation", filledIn(expr)]),
] as [string, string][];

/** Metrics and labels of an expression, by the grammar of Prometheus; throws at the first fault. */
function namesIn(expr: string): { metrics: Set<string>; labels: Set<string> } {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  parser.parse(expr).iterate({
    enter: (node) => {
      const text = expr.slice(node.from, node.to);
      if (node.type.isError) throw new TypeError(`fault at ${node.from} of ${expr}`);
      if (node.name === "Identifier" && node.node.parent?.name === "VectorSelector")
        metrics.add(text);
      if (node.name === "LabelName") labels.add(text);
    },
  });
  return { metrics, labels };
}

const KNOWN: Readonly<Record<string, MetricFacts>> = METRICS;
/** Labels of a scrape. */
const SCRAPED = ["job", "instance"];

test.each(expressions)("%s: %s", (_, expr) => {
  const { metrics, labels } = namesIn(expr);
  expect(metrics.size).toBeGreaterThan(0);
  const allowed = new Set(SCRAPED);
  for (const name of metrics) {
    if (name === "up") continue;
    const base = name.replace(/_(?:bucket|count|sum)$/u, "");
    const { type, labels: own = [] } = KNOWN[name] ?? KNOWN[base] ?? {};
    expect(type, `${name} is in the catalogue`).toBeDefined();
    expect(type === "histogram", `${name} is a part of a histogram`).toBe(
      KNOWN[name] === undefined,
    );
    for (const label of type === "histogram" ? ["le"] : own) allowed.add(label);
  }
  expect([...labels].filter((label) => !allowed.has(label))).toEqual([]);
});

test("a misspelt metric, a misspelt label and a broken expression would be found", () => {
  expect(KNOWN["countersign_redy"]).toBeUndefined();
  expect([...namesIn('sum by (rulle) (countersign_ready{jobb="a"})').labels]).toEqual([
    "rulle",
    "jobb",
  ]);
  expect(() => namesIn("sum(countersign_ready")).toThrow("fault");
});

test("every alert says what happened and how bad it is, and the page of monitoring has a row for it", () => {
  const page = readFileSync(new URL("../docs/operate/monitoring.md", deploy), "utf8");
  const listed = [...page.matchAll(/^\| `(Countersign\w+)` \| (\w+) \|/gmu)];
  expect(listed.map(([, alert, severity]) => [alert, severity])).toEqual(
    rules.map(({ alert, labels }) => [alert, (labels as { severity: string }).severity]),
  );
  for (const { annotations } of rules) {
    expect(Object.keys(annotations)).toEqual(["summary", "description"]);
  }
});

test("panels have a title, a description and a place of their own", () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const taken = new Set<string>();
  expect(panels.filter(({ description }) => description === undefined)).toEqual([]);
  for (const { title, gridPos } of dashboard.panels) {
    expect(title).not.toBe("");
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x},${y}`), `${title} covers another panel`).toBe(false);
        taken.add(`${x},${y}`);
      }
    }
  }
});

const promtool = (...words: string[]) => spawnSync("promtool", words, { encoding: "utf8" });
const hasPromtool = promtool("--version").status === 0;
const path = (name: string): string => fileURLToPath(new URL(`prometheus/${name}`, deploy));

test("promtool accepts the alerts, their tests and the scrape", { timeout: 120_000 }, (context) => {
  if (!hasPromtool) context.skip("promtool is not installed: expressions were parsed, not tested");
  for (const words of [
    ["check", "rules", path("countersign.rules.yaml")],
    ["test", "rules", path("countersign.rules.test.yaml")],
    ["check", "config", path("prometheus.yml")],
  ]) {
    const { status, stdout, stderr } = promtool(...words);
    expect(status, stdout + stderr).toBe(0);
  }
});

test("promtool accepts every query of the dashboard", (context) => {
  if (!hasPromtool)
    context.skip("promtool is not installed: queries were parsed by another parser");
  const folder = mkdtempSync(join(tmpdir(), "countersign-rules-"));
  try {
    const recorded = expressions.map(([, expr], index) => ({ record: `query:${index}`, expr }));
    const file = join(folder, "queries.yaml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "queries", rules: recorded }] }));
    const { status, stdout, stderr } = promtool("check", "rules", file);
    expect(status, stdout + stderr).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
