import type { MetricFacts } from "./catalogue.js";
import type { Histogram } from "./counters.js";

/** Label values in the order of the metric's labels, and the number. */
export type Sample = readonly [labels: readonly string[], value: number];

/** The media type of the text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** One metric in the text format of Prometheus. */
export function writeMetric(name: string, facts: MetricFacts, samples: readonly Sample[]): string {
  let text = head(name, facts);
  for (const [values, value] of samples) {
    text += `${name}${labelsOf(facts.labels, values)} ${numberOf(value)}\n`;
  }
  return text;
}

/** One histogram in the text format of Prometheus. */
export function writeHistogram(name: string, facts: MetricFacts, histogram: Histogram): string {
  let text = head(name, facts);
  const counts = histogram.cumulative();
  const bounds = [...histogram.bounds.map(numberOf), "+Inf"];
  for (const [index, bound] of bounds.entries()) {
    text += `${name}_bucket{le="${bound}"} ${counts[index] ?? 0}\n`;
  }
  return `${text}${name}_sum ${numberOf(histogram.sum)}\n${name}_count ${counts.at(-1) ?? 0}\n`;
}

function head(name: string, { type, help }: MetricFacts): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

function labelsOf(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  return `{${names.map((name, index) => `${name}="${escape(values[index] ?? "")}"`).join(",")}}`;
}

function escape(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}
