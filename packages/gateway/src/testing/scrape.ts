/** One metric as a strict parser of the text format reads it. */
export type ScrapedMetric = {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
};

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/u;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/u;

/** Parses a scrape strictly by the format 0.0.4; throws on anything else. */
export function readScrape(text: string): Map<string, ScrapedMetric> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const metrics = new Map<string, ScrapedMetric>();
  let current: { name: string; metric: ScrapedMetric } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [hash, keyword, name = "", ...rest] = line.split(" ");
    if (hash === "#" && keyword === "HELP") {
      if (metrics.has(name)) throw new Error(`${name} twice`);
      current = { name, metric: { type: "", help: rest.join(" "), samples: [] } };
      metrics.set(name, current.metric);
    } else if (hash === "#" && keyword === "TYPE") {
      if (current?.name !== name) throw new Error(`TYPE of ${name} out of place`);
      current.metric.type = rest.join(" ");
    } else {
      if (current === undefined) throw new Error(`a sample without a head: ${line}`);
      current.metric.samples.push(readSample(line, current.name));
    }
  }
  for (const [name, metric] of metrics) checkMetric(name, metric);
  return metrics;
}

function readSample(line: string, metric: string): ScrapedMetric["samples"][number] {
  const [, name, labelText = "", number] = SAMPLE.exec(line) ?? [];
  if (name === undefined || !name.startsWith(metric)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = labelText; rest !== "";) {
    const [whole, label = "", value = ""] = LABEL.exec(rest) ?? [];
    if (whole === undefined || Object.hasOwn(labels, label)) throw new Error(`labels: ${line}`);
    labels[label] = value;
    rest = rest.slice(whole.length);
  }
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`);
  return { name, labels, value };
}

function checkMetric(name: string, { type, samples }: ScrapedMetric): void {
  const seen = samples.map((sample) => JSON.stringify([sample.name, sample.labels]));
  if (new Set(seen).size !== seen.length) throw new Error(`${name} has a sample twice`);
  if (type === "counter" && !name.endsWith("_total")) throw new Error(`${name} is no total`);
  if (type !== "histogram") {
    if (samples.some((sample) => sample.name !== name)) throw new Error(`${name}: foreign sample`);
    return;
  }
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const counts = buckets.map(({ value }) => value);
  const bounds = buckets.map(({ labels }) => labels["le"]);
  if (counts.some((count, index) => index > 0 && count < (counts[index - 1] ?? 0)))
    throw new Error(`${name}: buckets fall`);
  if (bounds.at(-1) !== "+Inf") throw new Error(`${name}: no +Inf`);
  const total = samples.find((sample) => sample.name === `${name}_count`)?.value;
  if (total !== counts.at(-1)) throw new Error(`${name}: count differs`);
  if (!samples.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}: no sum`);
}

/** The value of one sample; 0 when it is missing. */
export function valueOf(
  metrics: ReadonlyMap<string, ScrapedMetric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = metrics.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/u, "");
  const found = metrics
    .get(family)
    ?.samples.find(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  return found?.value ?? 0;
}
