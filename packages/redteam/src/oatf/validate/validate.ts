import { isJsonObject, ownMember } from "@countersign/core";
import { textMember } from "../json/values.js";
import type { OatfDocument } from "../model/document.js";
import { extractProtocol } from "../model/modes.js";
import type { Path } from "../yaml/source.js";
import { sourceOf } from "../yaml/source.js";
import { actorViews, declaredExtractors } from "./actor-view.js";
import { checkAttack } from "./attack-rules.js";
import { checkExecution } from "./execution-rules.js";
import type { ValidationResult } from "./finding.js";
import { checkIndicators } from "./indicator-rules.js";
import { checkPhases } from "./phase-rules.js";
import type { Report } from "./report.js";
import { createReport } from "./report.js";
import { checkState, checkTemplates } from "./state-rules.js";

const SUPPORTED_VERSION = "0.1";
const ATTACK: Path = ["attack"];
const EXECUTION: Path = ["attack", "execution"];

/** Judges a document by every rule of the format; never throws, whatever the document holds. */
export function validate(document: OatfDocument): ValidationResult {
  const source = sourceOf(document);
  const report = createReport(document, source);
  for (const { path, message } of source?.violations ?? []) report.error("V-020", path, message);
  checkRoot(document, report);
  const attack = ownMember(document, "attack");
  if (isJsonObject(attack)) {
    checkAttack(attack, ATTACK, report);
    checkBody(attack, report);
  }
  return report.finish();
}

function checkRoot(document: OatfDocument, report: Report): void {
  if (ownMember(document, "oatf") !== SUPPORTED_VERSION) {
    report.error("V-001", ["oatf"], `must be "${SUPPORTED_VERSION}"`);
  }
  if (
    isJsonObject(document) &&
    Object.hasOwn(document, "oatf") &&
    Object.keys(document)[0] !== "oatf"
  ) {
    report.warn("W-001", ["oatf"], "should be the first key");
  }
  if (!isJsonObject(ownMember(document, "attack"))) {
    report.error("V-003", ATTACK, "must be there and be a mapping");
  }
}

function checkBody(attack: unknown, report: Report): void {
  const execution = ownMember(attack, "execution");
  if (execution === undefined || execution === null) {
    report.error("V-004", EXECUTION, "is required");
  }
  if (isJsonObject(execution)) checkExecution(execution, EXECUTION, report);
  const actors = actorViews(execution, EXECUTION);
  const byActor = new Map(actors.map((actor) => [actor.name, declaredExtractors(actor)]));
  for (const actor of actors) {
    checkPhases(actor, report);
    const own = byActor.get(actor.name) ?? new Set<string>();
    checkTemplates(actor, { own, byActor }, report);
    for (const { value, path } of actor.phases) {
      checkState(ownMember(value, "state"), [...path, "state"], report);
    }
  }
  const protocols = actors.map(({ mode }) => extractProtocol(mode ?? ""));
  checkIndicators(
    attack,
    ATTACK,
    {
      attackId: textMember(attack, "id"),
      hasExecution: isJsonObject(execution),
      mode: textMember(execution, "mode"),
      actors: new Set(actors.map(({ name }) => name)),
      protocols: new Set(protocols.filter((protocol) => protocol !== undefined)),
    },
    report,
  );
}
