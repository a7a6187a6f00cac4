import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@countersign/core";
import { loadConfig } from "@countersign/gateway";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import { DEFAULT_DOCUMENT_LIMITS, readYaml } from "@countersign/policy/yaml";
import { expect, test } from "vitest";
import { runProgram } from "../testing/run-program.js";

const deploy = new URL("../../../../deploy/", import.meta.url);
const folder = new URL("kubernetes/", deploy);
const files = readdirSync(folder).toSorted();
const dockerfile = readFileSync(new URL("Dockerfile", deploy), "utf8");

/** A document of the folder, read strictly. */
function read(file: string): JsonObject {
  const text = readFileSync(new URL(file, folder), "utf8");
  const { value, issues } = readYaml(text, file, DEFAULT_DOCUMENT_LIMITS);
  expect(issues, file).toEqual([]);
  return value as JsonObject;
}

/** The value at a path of keys and indexes. */
function at(value: JsonValue | undefined, ...path: (string | number)[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (inner, name) => (inner as Record<string | number, JsonValue> | undefined)?.[name],
    value,
  );
}

const deployment = read("deployment.yaml");
const pod = at(deployment, "spec", "template", "spec") as JsonObject;
const gateway = at(pod, "containers", 0) as JsonObject;
const keys = at(pod, "initContainers", 0) as JsonObject;
const settings = at(read("configuration.yaml"), "data") as Record<string, string>;
const config = loadConfig(settings["countersign.yaml"] ?? "", {
  file: "/etc/countersign/countersign.yaml",
  environment: {
    COUNTERSIGN_STORE: "postgres://user:secret@database/countersign",
  },
});

test("every file is one object of a known kind, and all belong together by their labels", () => {
  const kinds = files.map((file) => [file, at(read(file), "kind")]);
  expect(kinds).toEqual([
    ["configuration.yaml", "ConfigMap"],
    ["deployment.yaml", "Deployment"],
    ["disruption-budget.yaml", "PodDisruptionBudget"],
    ["network-policy.yaml", "NetworkPolicy"],
    ["service.yaml", "Service"],
  ]);
  const label = { "app.kubernetes.io/name": "countersign" };
  for (const file of files) expect(at(read(file), "metadata", "labels")).toEqual(label);
  expect(at(deployment, "spec", "selector", "matchLabels")).toEqual(label);
  expect(at(deployment, "spec", "template", "metadata", "labels")).toEqual(label);
  expect(at(read("service.yaml"), "spec", "selector")).toEqual(label);
  expect(at(read("disruption-budget.yaml"), "spec", "selector", "matchLabels")).toEqual(label);
  expect(at(read("network-policy.yaml"), "spec", "podSelector", "matchLabels")).toEqual(label);
  expect(at(deployment, "spec", "replicas")).toBe(2);
});

test("the configuration loads, its policy compiles, and both are where the pod mounts them", () => {
  expect(config.receipts.store).toMatch(/^postgres:/u);
  expect(config.access.modes).toEqual(["jwt"]);
  expect(compilePolicy(loadPolicy(settings["policy.yaml"] ?? "")).name).toBe("production");
  const mounts = at(gateway, "volumeMounts") as { name: string; mountPath: string }[];
  const configuration = mounts.find(({ name }) => name === "configuration")?.mountPath;
  expect(config.policyFile).toBe(`${configuration}/policy.yaml`);
  // The image starts with this file unless it is told otherwise, and the pod tells it nothing.
  expect(dockerfile).toContain(`"--config", "${configuration}/countersign.yaml"`);
  expect(at(gateway, "args") ?? at(gateway, "command")).toBeUndefined();
  const state = mounts.find(({ name }) => name === "state")?.mountPath;
  expect(config.keyDirectory).toBe(`${state}/keys`);
  expect(dockerfile).toContain(`VOLUME ["${state}"]`);
});

test("ports and paths of the probes and of the service are those of the gateway", () => {
  expect(at(gateway, "ports")).toEqual([
    { name: "data", containerPort: config.listen.port },
    { name: "metrics", containerPort: config.metrics.listener?.port },
  ]);
  expect(config.listen.host).toBe("0.0.0.0");
  expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${config.listen.port} `, "mu"));
  const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((name) =>
    at(gateway, name, "httpGet"),
  );
  expect(probes).toEqual([
    { path: "/healthz", port: "data" },
    { path: "/healthz", port: "data" },
    { path: "/readyz", port: "data" },
  ]);
  expect(at(read("service.yaml"), "spec", "ports", 0, "targetPort")).toBe("data");
  // The control plane speaks no TLS: nothing but the pod itself reaches it.
  expect(config.control.host).toBe("127.0.0.1");
});

test("Prometheus finds the metrics of each pod where the gateway serves them", () => {
  expect(config.metrics.listener).toMatchObject({ host: "0.0.0.0", port: 9464 });
  expect(at(deployment, "spec", "template", "metadata", "annotations")).toEqual({
    "prometheus.io/scrape": "true",
    "prometheus.io/port": String(config.metrics.listener?.port),
    "prometheus.io/path": "/metrics",
  });
});

test("the policy enforces, and is in nothing looser than the starter", async () => {
  const text = settings["policy.yaml"] ?? "";
  expect(compilePolicy(loadPolicy(text)).mode).toBe("enforce");
  const scratch = mkdtempSync(join(tmpdir(), "countersign-kubernetes-"));
  try {
    const file = join(scratch, "policy.yaml");
    writeFileSync(file, text);
    const starter = fileURLToPath(new URL("../packages/policy/policies/starter.yaml", deploy));
    const { code, out } = await runProgram(
      "policy",
      "diff",
      starter,
      file,
      "--fail-on",
      "looser",
      "--json",
    );
    expect(code, out).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ verdict: "stricter" });
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

test("every client reaches the data plane, and Prometheus the metrics", () => {
  const rules = at(read("network-policy.yaml"), "spec", "ingress") as JsonObject[];
  expect(rules.map(({ ports, from }) => [ports, from])).toEqual([
    [[{ port: "data" }], undefined],
    [
      [{ port: "metrics" }],
      [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
    ],
  ]);
});

test("a pod is given longer to stop than the gateway takes", () => {
  const { delayMs, drainTimeoutMs } = config.shutdown;
  const grace = Number(at(pod, "terminationGracePeriodSeconds")) * 1000;
  expect(grace).toBeGreaterThanOrEqual(delayMs + drainTimeoutMs + 5000);
  // Longer than it takes until the probe says that it is not ready.
  const { periodSeconds, failureThreshold } = at(gateway, "readinessProbe") as Record<
    string,
    number
  >;
  expect(delayMs).toBeGreaterThan((periodSeconds ?? 0) * (failureThreshold ?? 0) * 1000);
});

test("every variable the configuration names comes from a secret, and no file holds a secret", () => {
  const named = [...(settings["countersign.yaml"] ?? "").matchAll(/\$\{(\w+)\}/gu)].map(
    ([, name]) => name,
  );
  const given = at(gateway, "env") as { name: string; valueFrom?: Record<string, object> }[];
  expect(given.map(({ name }) => name)).toEqual(named);
  const sources = given.map(({ valueFrom }) => valueFrom);
  expect(sources).toEqual([{ secretKeyRef: { name: "countersign-store", key: "address" } }]);
  for (const file of files) {
    expect(read(file)["kind"]).not.toBe("Secret");
    expect(readFileSync(new URL(file, folder), "utf8")).not.toContain("BEGIN PRIVATE KEY");
  }
});

test("nothing runs as root, writes to its root file system, gains rights or goes without bounds", () => {
  expect(at(pod, "securityContext")).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
  expect(dockerfile).toContain("USER 1000:1000");
  expect(at(pod, "automountServiceAccountToken")).toBe(false);
  for (const container of [gateway, keys]) {
    expect(at(container, "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(at(container, "resources", "limits", "memory")).toBeDefined();
    expect(at(container, "resources", "requests", "cpu")).toBeDefined();
    expect(at(container, "image")).toMatch(/^countersign:\d+\.\d+\.\d+$/u);
  }
});

test("the keys of a secret end up where the gateway keeps its own, for it alone", () => {
  const scratch = mkdtempSync(join(tmpdir(), "countersign-kubernetes-"));
  try {
    // As a secret is mounted: names are links into a folder that is swapped as a whole.
    const secret = join(scratch, "secret");
    mkdirSync(secret);
    for (const name of ["receipts.pem", "log.vkey"]) {
      writeFileSync(join(secret, name), name, { mode: 0o440 });
    }
    const [shell = "", ...words] = at(keys, "command") as string[];
    const script = words
      .map((word) => word.replaceAll("/var/lib/countersign", join(scratch, "state")))
      .map((word) => word.replaceAll("/secret", secret));
    expect(spawnSync(shell, script, { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    const directory = join(scratch, "state", "keys");
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(secret)) {
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(directory, name), "utf8")).toBe(name);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
