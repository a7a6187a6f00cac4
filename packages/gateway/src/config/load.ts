import {
  DEFAULT_DOCUMENT_LIMITS,
  issueAt,
  readYaml,
  validateAgainstSchema,
} from "@countersign/policy/yaml";
import { checkSemantics } from "./check-semantics.js";
import type { GatewayConfig } from "./config.js";
import type { ConfigDocument } from "./document.js";
import { invalid } from "./reading.js";
import type { ConfigOptions, Reading } from "./reading.js";
import { findRemoved } from "./removed-settings.js";
import { resolveConfig } from "./resolve.js";
import { CONFIG_SCHEMA } from "./schema.js";

/** Loads `countersign.yaml`; every problem is reported with file, line and column. */
export function loadConfig(text: string, options: ConfigOptions): GatewayConfig {
  const { file } = options;
  const read = readYaml(text, file, DEFAULT_DOCUMENT_LIMITS);
  if (read.value === undefined) throw invalid(file, read.issues);
  const { value, positions } = read;
  const removed = findRemoved(value, positions);
  if (removed.length > 0) throw invalid(file, removed);
  const { maxIssues } = DEFAULT_DOCUMENT_LIMITS;
  const misspelled = validateAgainstSchema(CONFIG_SCHEMA, value, positions, maxIssues);
  if (misspelled.length > 0) throw invalid(file, misspelled);
  const document = value as unknown as ConfigDocument;
  const issue: Reading["issue"] = (pointer, message) =>
    issueAt(positions, pointer, "bad-value", message);
  const meant = checkSemantics(document, issue);
  if (meant.length > 0) throw invalid(file, meant);
  return resolveConfig(document, { ...options, issue });
}
