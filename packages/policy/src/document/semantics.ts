import type { JsonObject, JsonValue } from "@countersign/core";
import { compileCondition } from "../conditions/expression.js";
import { compilePattern } from "../patterns/regular-expression.js";
import { compileArgumentSchema } from "../tools/argument-schema.js";
import type { PolicyIssue, PolicyIssueCode } from "./issue.js";
import { asObject } from "../base/json-object.js";
import type { PositionTable } from "./source.js";
import { childPointer, issueAt } from "./source.js";

const GUIDE_KEYS = ["scope", "match", "max_invocations", "window_seconds"];
const CHIO_KEYS = [
  "max_invocations_per_window",
  "max_spend_per_window",
  "max_requests_per_agent",
  "max_requests_per_session",
  "window_secs",
  "burst_factor",
];

type Report = (pointer: string, code: PolicyIssueCode, message: string) => void;

/**
 * Checks beyond the schema: expressions must compile, keys may exclude each other, names are
 * unique.
 */
export function checkRules(
  rules: JsonObject,
  prefix: string,
  positions: PositionTable,
): PolicyIssue[] {
  const issues: PolicyIssue[] = [];
  const report: Report = (pointer, code, message) => {
    issues.push(issueAt(positions, pointer, code, message));
  };
  const at = (...path: (string | number)[]): string => path.reduce<string>(childPointer, prefix);
  checkVelocity(rules["velocity"], at("velocity"), report);
  checkConditions(rules["ag_ui_conditions"], at("ag_ui_conditions"), report);
  checkArguments(rules["ag_ui_tools"], at("ag_ui_tools"), report);
  checkSurfaces(rules["ag_ui_surfaces"], at("ag_ui_surfaces", "catalogues"), report);
  checkApps(rules["ag_ui_apps"], at("ag_ui_apps", "tools"), report);
  checkSecretPatterns(rules["secret_patterns"], at("secret_patterns"), report);
  for (const [block, key] of [
    ["patch_integrity", "forbidden_patterns"],
    ["shell_commands", "forbidden_patterns"],
    ["browser_automation", "extra_credential_patterns"],
  ] as const) {
    members(member(rules[block], key)).forEach((pattern, index) =>
      checkPattern(pattern, at(block, key, index), report),
    );
  }
  return issues;
}

function checkVelocity(value: JsonValue | undefined, pointer: string, report: Report): void {
  if (Array.isArray(value)) {
    // Counters are stored by name: of two with one name, one would be lost on a reload.
    const seen = new Set<JsonValue>();
    value.forEach((rule, index) => {
      const here = childPointer(pointer, index);
      checkVelocity(rule, here, report);
      const id = member(rule, "id") ?? `rule-${index + 1}`;
      if (seen.has(id)) {
        report(here, "conflict", `two velocity rules are called "${String(id)}"`);
      }
      seen.add(id);
    });
    return;
  }
  const rule = asObject(value);
  if (rule === undefined) return;
  const guide = GUIDE_KEYS.filter((key) => Object.hasOwn(rule, key));
  const chio = CHIO_KEYS.filter((key) => Object.hasOwn(rule, key));
  if (guide.length > 0 && chio.length > 0) {
    report(
      pointer,
      "conflict",
      `velocity mixes two spellings: ${guide.join(", ")} beside ${chio.join(", ")}`,
    );
  } else if (chio.length === 0) {
    for (const key of ["max_invocations", "window_seconds"]) {
      if (!Object.hasOwn(rule, key)) {
        report(pointer, "missing-key", `velocity needs the key "${key}"`);
      }
    }
  } else if (!chio.some((key) => key.startsWith("max_"))) {
    report(pointer, "missing-key", "velocity needs at least one maximum");
  }
}

function checkConditions(value: JsonValue | undefined, pointer: string, report: Report): void {
  const seen = new Set<string>();
  members(member(value, "rules")).forEach((rule, index) => {
    const here = childPointer(childPointer(pointer, "rules"), index);
    const id = member(rule, "id");
    if (typeof id === "string") {
      if (seen.has(id))
        report(childPointer(here, "id"), "conflict", `two conditions are called "${id}"`);
      seen.add(id);
    }
    const when = member(rule, "when");
    if (typeof when === "string") {
      attempt(childPointer(here, "when"), report, () => compileCondition(when));
    }
  });
}

function checkArguments(value: JsonValue | undefined, pointer: string, report: Report): void {
  checkSchemas(member(value, "arguments"), childPointer(pointer, "arguments"), report);
}

/** JSON Schemas by name. */
function checkSchemas(value: JsonValue | undefined, pointer: string, report: Report): void {
  for (const [name, entry] of Object.entries(asObject(value) ?? {})) {
    const schema = asObject(entry);
    if (schema === undefined) continue;
    attempt(childPointer(pointer, name), report, () => compileArgumentSchema(schema));
  }
}

function checkSurfaces(value: JsonValue | undefined, pointer: string, report: Report): void {
  const catalogues = members(member(value, "catalogues"));
  checkUnique(catalogues, "id", "two catalogues have the id", pointer, report);
  catalogues.forEach((entry, index) => {
    const here = childPointer(childPointer(pointer, index), "schemas");
    checkSchemas(member(entry, "schemas"), here, report);
  });
}

function checkApps(value: JsonValue | undefined, pointer: string, report: Report): void {
  const tools = members(member(value, "tools"));
  checkUnique(tools, "name", "two tools of apps are called", pointer, report);
  tools.forEach((entry, index) => {
    const schema = member(entry, "arguments");
    if (schema !== undefined) {
      checkSchemas({ arguments: schema }, childPointer(pointer, index), report);
    }
  });
}

function checkUnique(
  entries: readonly JsonValue[],
  key: string,
  says: string,
  pointer: string,
  report: Report,
): void {
  const seen = new Set<JsonValue>();
  entries.forEach((entry, index) => {
    const name = member(entry, key);
    if (typeof name !== "string") return;
    if (seen.has(name)) {
      report(childPointer(childPointer(pointer, index), key), "conflict", `${says} "${name}"`);
    }
    seen.add(name);
  });
}

function checkSecretPatterns(value: JsonValue | undefined, pointer: string, report: Report): void {
  const seen = new Set<string>();
  members(member(value, "patterns")).forEach((entry, index) => {
    const here = childPointer(childPointer(pointer, "patterns"), index);
    const name = member(entry, "name");
    if (typeof name === "string") {
      if (seen.has(name)) {
        report(childPointer(here, "name"), "conflict", `two patterns are called "${name}"`);
      }
      seen.add(name);
    }
    checkPattern(member(entry, "pattern"), childPointer(here, "pattern"), report);
  });
}

function checkPattern(value: JsonValue | undefined, pointer: string, report: Report): void {
  if (typeof value === "string") attempt(pointer, report, () => compilePattern(value));
}

function attempt(pointer: string, report: Report, compile: () => unknown): void {
  try {
    compile();
  } catch (error) {
    const detail = error instanceof Error ? error.message : "cannot be compiled";
    report(pointer, "expression", detail.slice(0, 300));
  }
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  const object = asObject(value);
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

function members(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
