import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { listMember } from "../json/values.js";
import { dispatchLists } from "../model/dispatch.js";
import { scanTemplate } from "../primitives/template-scan.js";
import type { Path } from "../yaml/source.js";
import type { ActorView } from "./actor-view.js";
import { checkName } from "./checks.js";
import { checkPredicate } from "./predicate-rules.js";
import type { Report } from "./report.js";

/** The parts of a state that belong to the format; all else passes through untouched. */
export function checkState(state: unknown, path: Path, report: Report): void {
  for (const { path: below, entries } of dispatchLists(state)) {
    const at = [...path, ...below];
    if (entries.filter((entry) => ownMember(entry, "when") === undefined).length > 1) {
      report.error("V-033", at, "has more than one entry without when");
    }
    for (const [index, entry] of entries.entries()) {
      checkPredicate(ownMember(entry, "when"), [...at, index, "when"], report);
      warnOfSynthesis(entry, [...at, index], report);
      if (below[0] === "elicitation_responses") {
        checkName(report, entry, "action", [...at, index], "elicitationAction");
      }
    }
  }
  for (const [index, elicitation] of listMember(state, "elicitations").entries()) {
    checkName(report, elicitation, "mode", [...path, "elicitations", index], "elicitationMode");
  }
  warnOfSynthesis(ownMember(state, "run_agent_input"), [...path, "run_agent_input"], report);
}

function warnOfSynthesis(holder: unknown, path: Path, report: Report): void {
  if (ownMember(holder, "synthesize") !== undefined) {
    report.warn("W-006", [...path, "synthesize"], "is reserved and has no effect in OATF 0.1");
  }
}

/** The names that templates of one actor may use. */
export type TemplateNames = {
  readonly own: ReadonlySet<string>;
  readonly byActor: ReadonlyMap<string, ReadonlySet<string>>;
};

/** V-016, V-032 and W-004 for every string of an actor's states and entry actions. */
export function checkTemplates(actor: ActorView, names: TemplateNames, report: Report): void {
  const visit = (value: JsonValue | undefined, path: Path): void => {
    if (typeof value === "string") checkText(value, path, names, report);
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index]);
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
    }
  };
  for (const { value, path } of actor.phases) {
    visit(ownMember(value, "state"), [...path, "state"]);
    visit(ownMember(value, "on_enter"), [...path, "on_enter"]);
  }
}

const QUALIFIED = /^([A-Za-z_][A-Za-z0-9_-]*)\.[A-Za-z0-9_.-]+$/;

function checkText(text: string, path: Path, names: TemplateNames, report: Report): void {
  if (!text.includes("{{")) return;
  const { parts, unclosed } = scanTemplate(text);
  if (unclosed) report.error("V-016", path, "{{ is never closed; write \\{{ for the text itself");
  for (const part of parts) {
    if (part.kind === "text" || /^(?:request|response)\./.test(part.name)) continue;
    const shown = part.name.slice(0, 64);
    const actor = QUALIFIED.exec(part.name)?.[1];
    const declared = actor === undefined ? names.own : names.byActor.get(actor);
    if (declared === undefined) report.error("V-032", path, `{{${shown}}} names no actor`);
    else if (!declared.has(actor === undefined ? part.name : part.name.slice(actor.length + 1))) {
      report.warn("W-004", path, `{{${shown}}} names no extractor`);
    }
  }
}
