import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@countersign/core";
import { loadConfig } from "@countersign/gateway";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import { DEFAULT_DOCUMENT_LIMITS, readYaml } from "@countersign/policy/yaml";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { renderChart } from "../testing/render-chart.js";
import type { ChartContext } from "../testing/render-chart.js";

const deploy = fileURLToPath(new URL("../../../../deploy/", import.meta.url));
const chart = join(deploy, "helm/countersign");
const textOf = (name: string): string => readFileSync(join(deploy, name), "utf8");
const parse = (text: string, name: string): JsonObject => {
  const { value, issues } = readYaml(text, name, DEFAULT_DOCUMENT_LIMITS);
  expect(issues, `${name}\n${text}`).toEqual([]);
  return value as JsonObject;
};
const read = (name: string): JsonObject => parse(textOf(name), name);

const about = read("helm/countersign/Chart.yaml") as { version: string; appVersion: string };
const defaults = read("helm/countersign/values.yaml");
const sample = read("helm/countersign/ci/sample-values.yaml");
const schema = JSON.parse(textOf("helm/countersign/values.schema.json")) as object;
const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema);

/** Maps are merged and everything else is replaced, as Helm does. */
function merge(base: JsonValue | undefined, over: JsonValue): JsonValue {
  const isMap = (value: JsonValue | undefined): value is JsonObject =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap(base) || !isMap(over)) return over;
  const merged = Object.entries(over).map(([name, value]) => [name, merge(base[name], value)]);
  return { ...base, ...Object.fromEntries(merged) } as JsonObject;
}

const contextOf = (values: JsonObject): ChartContext => ({
  Values: merge(defaults, values) as object,
  Release: { Name: "countersign", Service: "Helm" },
  Chart: { AppVersion: about.appVersion },
});
const render = (values: JsonObject): Map<string, JsonObject> => {
  const rendered = [...renderChart(chart, contextOf(values))];
  return new Map(
    rendered
      .filter(([, text]) => text.trim() !== "")
      .map(([name, text]) => [name, parse(text, name)]),
  );
};

/** Without what only Helm adds, so that an object of the chart can be compared with the sample. */
function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([name, inner]) =>
      !/^app\.kubernetes\.io\/(?:instance|version|managed-by)$|^imagePullPolicy$/u.test(name) &&
      !(name === "type" && inner === "ClusterIP"),
  );
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner)]));
}

const SAMPLES = [
  ["deployment.yaml", "kubernetes/deployment.yaml"],
  ["service.yaml", "kubernetes/service.yaml"],
  ["disruption-budget.yaml", "kubernetes/disruption-budget.yaml"],
  ["network-policy.yaml", "kubernetes/network-policy.yaml"],
] as const;

test.each(SAMPLES)("%s of the chart is %s", (template, name) => {
  expect(plain(render(sample).get(template) ?? {})).toEqual(read(name));
});

const loaded = (data: JsonValue | undefined) => {
  const files = data as Record<string, string>;
  const { file: _file, ...config } = loadConfig(files["countersign.yaml"] ?? "", {
    file: "/etc/countersign/countersign.yaml",
    environment: {
      COUNTERSIGN_STORE: "postgres://h/d",
      COUNTERSIGN_REDIS: "redis://:secret@cache",
    },
  });
  return { config, policy: compilePolicy(loadPolicy(files["policy.yaml"] ?? "")).hash };
};

test("the configuration and the policy of the chart are those of the sample", () => {
  const own = loaded(render(sample).get("configmap.yaml")?.["data"]);
  expect(own).toEqual(loaded(read("kubernetes/configuration.yaml")["data"]));
});

test("values reach the configuration, the policy, the image and the pods", () => {
  const values = {
    image: { digest: `sha256:${"a".repeat(64)}` },
    policy: 'hushspec: "0.1.0"\nname: mine\nrules: {}\n',
    config: { origins: ["https://app.example.com"] },
    extraEnv: [{ name: "SIEM_TOKEN", value: "x" }],
    metrics: { port: 9999, podMonitor: { enabled: true, labels: { release: "prometheus" } } },
    shutdown: { drainTimeout: 120 },
  };
  const files = render(merge(sample, values) as JsonObject);
  const data = files.get("configmap.yaml")?.["data"];
  const { config } = loaded(data);
  expect(config.origins).toEqual(["https://app.example.com"]);
  expect(config.metrics.listener).toMatchObject({ port: 9999 });
  expect(compilePolicy(loadPolicy((data as { "policy.yaml": string })["policy.yaml"])).name).toBe(
    "mine",
  );
  const pod = JSON.stringify(files.get("deployment.yaml"));
  expect(pod).toContain(`countersign:${about.appVersion}@sha256:aaaa`);
  expect(pod).toContain('"SIEM_TOKEN"');
  expect(pod).toContain('"terminationGracePeriodSeconds":135');
  expect(files.get("pod-monitor.yaml")).toMatchObject({ kind: "PodMonitor" });
  const closed = merge(sample, { networkPolicy: { enabled: false } }) as JsonObject;
  expect(render(closed).has("network-policy.yaml")).toBe(false);
});

test("with a secret for Redis, the gateways get its address and the rest of the block", () => {
  expect(loaded(render(sample).get("configmap.yaml")?.["data"]).config.redis).toBeUndefined();
  const values = { redisSecret: { name: "cache" }, cluster: { when_down: "degrade" } };
  const files = render(merge(sample, values) as JsonObject);
  expect(loaded(files.get("configmap.yaml")?.["data"]).config.redis).toMatchObject({
    addresses: [{ host: "cache", port: 6379 }],
    password: "secret",
    whenDown: "degrade",
  });
  const pod = JSON.stringify(files.get("deployment.yaml"));
  expect(pod).toContain('{"name":"cache","key":"address"}');
});

test("the schema accepts the sample and names what is missing or wrong", () => {
  expect(isValid(merge(defaults, sample)), JSON.stringify(isValid.errors)).toBe(true);
  const faultOf = (values: JsonObject): string => {
    expect(isValid(merge(merge(defaults, sample), values))).toBe(false);
    return (isValid.errors ?? []).map(({ instancePath }) => instancePath).join();
  };
  expect(isValid(defaults)).toBe(false);
  expect(faultOf({ config: { listen: { host: "0.0.0.0" } } })).toContain("/config");
  expect(faultOf({ image: { digest: "latest" } })).toContain("/image/digest");
  expect(faultOf({ replicas: 0 })).toContain("/replicas");
  expect(faultOf({ agents: { a: { url: "agent:8000" } } })).toContain("/agents/a/url");
  expect(faultOf({ polcy: "" })).toContain("");
});

test("every value of the chart is in the schema and in a template", () => {
  const templates = [...renderChart(chart, contextOf(sample)).keys()];
  const text = ["_helpers.tpl", ...templates]
    .map((name) => textOf(`helm/countersign/templates/${name}`))
    .join("");
  const { properties } = schema as { properties: object };
  expect(
    Object.keys(properties)
      .filter((name) => name !== "global")
      .toSorted(),
  ).toEqual(Object.keys(defaults).toSorted());
  for (const name of Object.keys(defaults)) expect(text).toContain(`.Values.${name}`);
});

test("the chart has the version of the command and of the image in the sample", () => {
  const { version } = JSON.parse(textOf("../apps/cli/package.json")) as { version: string };
  expect([about.version, about.appVersion]).toEqual([version, version]);
  expect(textOf("kubernetes/deployment.yaml")).toContain(`image: countersign:${version}\n`);
  expect(textOf("compose/compose.yaml")).toContain(`image: countersign:${version}\n`);
});

/** Go and Sprig from Debian (golang-go, golang-github-masterminds-sprig-dev); Helm renders with both. */
const GO_LIBRARIES = "/usr/share/gocode";
const hasGo =
  existsSync(join(GO_LIBRARIES, "src/github.com/Masterminds/sprig")) &&
  spawnSync("go", ["version"]).status === 0;

/** With the embedded configuration as a value: the two writers of YAML indent differently. */
function unfolded(files: ReadonlyMap<string, JsonObject>): Map<string, JsonValue> {
  const data = files.get("configmap.yaml")?.["data"] as Record<string, string>;
  const configuration = parse(data["countersign.yaml"] ?? "", "countersign.yaml");
  return new Map<string, JsonValue>([
    ...files,
    ["configmap.yaml", { ...data, "countersign.yaml": configuration }],
  ]);
}

describe("beside the template engine of Go", () => {
  const VARIANTS: JsonObject[] = [
    sample,
    merge(sample, {
      podAnnotations: { a: "b: c" },
      tolerations: [{ key: "x" }],
      service: { annotations: { d: "e" } },
      metrics: { from: [], podMonitor: { enabled: true, labels: { f: "g" } } },
      extraVolumes: [{ name: "h", emptyDir: {} }],
      imagePullSecrets: [{ name: "i" }],
    }) as JsonObject,
  ];

  test.skipIf(!hasGo).each(VARIANTS.map((values, index) => [index, values] as const))(
    "values %i render to the same objects",
    { timeout: 120_000 },
    (_, values) => {
      const program = fileURLToPath(new URL("../testing/helm/main.go", import.meta.url));
      const { stdout, stderr, status } = spawnSync("go", ["run", program, chart], {
        encoding: "utf8",
        input: JSON.stringify(contextOf(values)),
        env: { ...process.env, GO111MODULE: "off", GOPATH: GO_LIBRARIES, GOFLAGS: "" },
      });
      expect(status, stderr).toBe(0);
      const byGo = Object.entries(JSON.parse(stdout) as Record<string, string>)
        .filter(([, text]) => text.trim() !== "")
        .map(([name, text]) => [name, parse(text, name)] as const);
      expect(unfolded(new Map(byGo))).toEqual(unfolded(render(values)));
    },
  );
});
