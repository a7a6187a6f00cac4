import { ownMember } from "@countersign/core";
import { listMember, textMember } from "../json/values.js";
import { isMode, knownModes } from "../model/modes.js";
import type { Path } from "../yaml/source.js";
import { checkUnique } from "./checks.js";
import type { Report } from "./report.js";

const ACTOR_NAME = /^[a-z][a-z0-9_]*$/;
const FORMS = ["state", "phases", "actors"] as const;

/** The form of an execution and its modes. */
export function checkExecution(execution: unknown, path: Path, report: Report): void {
  const forms = FORMS.filter((key) => ownMember(execution, key) !== undefined);
  if (forms.length !== 1) {
    report.error("V-030", path, "needs exactly one of state, phases and actors");
  }
  const mode = ownMember(execution, "mode");
  if (forms.includes("state") && mode === undefined) {
    report.error("V-030", [...path, "mode"], "is required with state");
  }
  if (forms.includes("actors") && mode !== undefined) {
    report.error("V-030", [...path, "mode"], "belongs to each actor when there are actors");
  }
  checkMode(execution, path, report);
  if (forms.includes("phases")) checkSharedMode(execution, path, report);
  if (forms.includes("actors")) checkActors(execution, [...path, "actors"], report);
}

/** V-034 and W-002 for the `mode` of an execution, an actor or a phase. */
export function checkMode(holder: unknown, path: Path, report: Report): void {
  const mode = textMember(holder, "mode");
  if (mode === undefined) return;
  if (!isMode(mode)) {
    report.error("V-034", [...path, "mode"], "must end in _server or _client, in lower case");
  } else if (!knownModes().has(mode)) {
    report.warn("W-002", [...path, "mode"], "is not a mode of OATF 0.1 and will be skipped");
  }
}

/** V-028: phases without a mode above them all name the same one. */
function checkSharedMode(execution: unknown, path: Path, report: Report): void {
  if (ownMember(execution, "mode") !== undefined) return;
  const modes = listMember(execution, "phases").map((phase) => textMember(phase, "mode"));
  for (const [index, mode] of modes.entries()) {
    if (mode === undefined) {
      const at = [...path, "phases", index, "mode"];
      report.error("V-028", at, "is required, because the execution has no mode");
    }
  }
  if (new Set(modes.filter((mode) => mode !== undefined)).size > 1) {
    report.error("V-028", [...path, "phases"], "name different modes");
  }
}

function checkActors(execution: unknown, path: Path, report: Report): void {
  const actors = listMember(execution, "actors");
  if (actors.length === 0) report.error("V-031", path, "must name at least one actor");
  for (const [index, actor] of actors.entries()) {
    const at = [...path, index];
    const name = textMember(actor, "name");
    if (name === undefined || !ACTOR_NAME.test(name)) {
      report.error("V-031", [...at, "name"], "must be a name in lower case");
    }
    if (textMember(actor, "mode") === undefined) {
      report.error("V-031", [...at, "mode"], "is required");
    }
    if (listMember(actor, "phases").length === 0) {
      report.error("V-031", [...at, "phases"], "must hold at least one phase");
    }
    checkMode(actor, at, report);
    for (const [number, phase] of listMember(actor, "phases").entries()) {
      const mode = ownMember(phase, "mode");
      if (mode !== undefined && mode !== ownMember(actor, "mode")) {
        report.error("V-044", [...at, "phases", number, "mode"], "differs from the actor's mode");
      }
    }
  }
  checkUnique(
    report,
    "V-031",
    actors.map((actor, index) => ({
      name: textMember(actor, "name"),
      path: [...path, index, "name"],
    })),
  );
}
