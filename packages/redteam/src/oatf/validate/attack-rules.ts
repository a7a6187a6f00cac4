import { isJsonObject, ownMember } from "@countersign/core";
import { listMember, textMember } from "../json/values.js";
import { durationSeconds } from "../primitives/duration.js";
import type { Path } from "../yaml/source.js";
import { checkListed, checkName, checkRange } from "./checks.js";
import type { Report } from "./report.js";

const ATTACK_ID = /^[A-Z][A-Z0-9-]*-[0-9]{3,}$/;

/** The envelope: identity, dates, severity, classification. */
export function checkAttack(attack: unknown, path: Path, report: Report): void {
  const id = textMember(attack, "id");
  if (id !== undefined && !ATTACK_ID.test(id)) {
    report.error("V-023", [...path, "id"], "must look like ACME-001");
  }
  const version = ownMember(attack, "version");
  if (version !== undefined && (!Number.isInteger(version) || (version as number) < 1)) {
    report.error("V-035", [...path, "version"], "must be an integer of at least 1");
  }
  checkName(report, attack, "status", path, "status");
  const grace = textMember(attack, "grace_period");
  if (grace !== undefined && durationSeconds(grace) === undefined) {
    report.error("V-046", [...path, "grace_period"], "must be a duration such as 30s or PT5M");
  }
  checkSeverity(ownMember(attack, "severity"), [...path, "severity"], report);
  checkImpact(listMember(attack, "impact"), [...path, "impact"], report);
  checkClassification(ownMember(attack, "classification"), [...path, "classification"], report);
  const correlation = ownMember(attack, "correlation");
  if (correlation !== undefined) {
    checkName(report, correlation, "logic", [...path, "correlation"], "logic");
    if (ownMember(attack, "indicators") === undefined) {
      report.error("V-047", [...path, "correlation"], "has nothing to correlate: no indicators");
    }
  }
}

function checkSeverity(severity: unknown, path: Path, report: Report): void {
  if (severity === undefined) return;
  if (!isJsonObject(severity)) {
    checkListed(report, severity, path, "severity");
    return;
  }
  checkName(report, severity, "level", path, "severity");
  checkRange(report, "V-017", severity, "confidence", path, [0, 100]);
}

function checkImpact(impact: readonly unknown[], path: Path, report: Report): void {
  for (const [index, entry] of impact.entries()) {
    checkListed(report, entry, [...path, index], "impact");
  }
  if (new Set(impact).size !== impact.length) {
    report.error("V-045", path, "names an impact twice");
  }
}

function checkClassification(classification: unknown, path: Path, report: Report): void {
  checkName(report, classification, "category", path, "category");
  for (const [index, mapping] of listMember(classification, "mappings").entries()) {
    checkName(report, mapping, "relationship", [...path, "mappings", index], "relationship");
  }
}
