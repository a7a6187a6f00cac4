import { isJsonObject, ownMember } from "@countersign/core";
import { textMember } from "../json/values.js";
import { compileJsonPath } from "../jsonpath/parse.js";
import { isKnownEvent } from "../model/events.js";
import { durationSeconds } from "../primitives/duration.js";
import type { Path } from "../yaml/source.js";
import type { ActorView } from "./actor-view.js";
import { checkName, checkRegex, checkUnique } from "./checks.js";
import { checkMode } from "./execution-rules.js";
import { OVER_BUDGET } from "./expression-budget.js";
import { checkPredicate } from "./predicate-rules.js";
import type { Report } from "./report.js";

const EXTRACTOR_NAME = /^[a-z][a-z0-9_]*$/;

/** The phases of one actor. */
export function checkPhases(actor: ActorView, report: Report): void {
  const { phases, phasesPath } = actor;
  if (phasesPath !== undefined) {
    if (phases.length === 0) report.error("V-007", phasesPath, "must hold at least one phase");
    checkTerminal(actor, phasesPath, report);
    const [first] = phases;
    if (first !== undefined && ownMember(first.value, "state") === undefined) {
      report.error("V-009", first.path, "is the first phase and needs a state");
    }
    checkUnique(
      report,
      "V-011",
      phases.map(({ value, path }) => ({
        name: textMember(value, "name"),
        path: [...path, "name"],
      })),
    );
  }
  for (const { value, path } of phases) {
    if (phasesPath !== undefined) checkMode(value, path, report);
    checkTrigger(ownMember(value, "trigger"), [...path, "trigger"], actor.mode, report);
    checkExtractors(value, path, report);
    checkActions(value, path, report);
  }
}

function checkTerminal(actor: ActorView, phasesPath: Path, report: Report): void {
  const terminal = actor.phases.filter(({ value }) => ownMember(value, "trigger") === undefined);
  if (terminal.length > 1) {
    report.error("V-008", phasesPath, "more than one phase has no trigger");
  } else if (terminal[0] !== undefined && terminal[0] !== actor.phases.at(-1)) {
    report.error("V-008", terminal[0].path, "has no trigger, so no phase may follow it");
  }
}

function checkTrigger(
  trigger: unknown,
  path: Path,
  mode: string | undefined,
  report: Report,
): void {
  if (!isJsonObject(trigger)) return;
  const event = textMember(trigger, "event");
  const after = ownMember(trigger, "after");
  const dependent =
    ownMember(trigger, "count") !== undefined || ownMember(trigger, "match") !== undefined;
  if (event === undefined && dependent) report.error("V-019", path, "count and match need event");
  if (event === undefined && after === undefined) {
    report.error("V-040", path, "needs event or after");
  }
  if (after !== undefined && (typeof after !== "string" || durationSeconds(after) === undefined)) {
    report.error("V-036", [...path, "after"], "must be a duration such as 30s or PT5M");
  }
  if (event !== undefined && mode !== undefined && isKnownEvent(mode, event) === false) {
    report.warn("V-029", [...path, "event"], `no actor of mode ${mode} sees such an event`);
  }
  checkPredicate(ownMember(trigger, "match"), [...path, "match"], report);
}

function checkExtractors(phase: unknown, path: Path, report: Report): void {
  const extractors = ownMember(phase, "extractors");
  if (!Array.isArray(extractors)) return;
  const list = [...path, "extractors"];
  if (extractors.length === 0) report.error("V-038", list, "must not be empty");
  for (const [index, extractor] of extractors.entries()) {
    const at = [...list, index];
    if (!EXTRACTOR_NAME.test(textMember(extractor, "name") ?? "")) {
      report.error("V-037", [...at, "name"], "must be a name in lower case");
    }
    checkName(report, extractor, "source", at, "direction");
    checkName(report, extractor, "type", at, "extractorType");
    checkSelector(extractor, at, report);
  }
}

function checkSelector(extractor: unknown, path: Path, report: Report): void {
  const selector = textMember(extractor, "selector");
  if (selector === undefined) return;
  const at = [...path, "selector"];
  if (ownMember(extractor, "type") === "json_path") {
    const { problem } = report.budget.afford(selector, "other")
      ? compileJsonPath(selector)
      : { problem: OVER_BUDGET };
    if (problem !== undefined) report.error("V-015", at, problem);
  } else if (ownMember(extractor, "type") === "regex") {
    const regex = checkRegex(report, extractor, "selector", path);
    if (regex?.groups === 0) report.error("V-042", at, "needs a capture group");
  }
}

function checkActions(phase: unknown, path: Path, report: Report): void {
  const actions = ownMember(phase, "on_enter");
  if (!Array.isArray(actions)) return;
  const list = [...path, "on_enter"];
  if (actions.length === 0) report.error("V-043", list, "must not be empty");
  for (const [index, action] of actions.entries()) {
    const keys = isJsonObject(action)
      ? Object.keys(action).filter((key) => !key.startsWith("x-"))
      : [];
    if (keys.length !== 1) report.error("V-041", [...list, index], "needs exactly one action");
    checkName(report, ownMember(action, "log"), "level", [...list, index, "log"], "logLevel");
  }
}
