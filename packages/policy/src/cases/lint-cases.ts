import type { JsonObject } from "@countersign/core";
import { RENDERING_TOOLS } from "@countersign/surface";
import type { PolicyIssue } from "../document/issue.js";
import type { PositionTable } from "../document/source.js";
import { childPointer, issueAt } from "../document/source.js";
import { NO_REFINEMENTS } from "../classify/refinement.js";
import { readSubject } from "./subject.js";

const MAX_ISSUES = 50;

/** The members of a case that are compared. */
type LintedCase = {
  readonly event: JsonObject;
  readonly before?: readonly JsonObject[];
  readonly surface?: object;
  readonly shown?: object;
};

/** Reports cases that cannot mean what they say, with their positions. */
export function lintCases(cases: readonly LintedCase[], positions: PositionTable): PolicyIssue[] {
  return cases
    .flatMap((entry, index) => lintCase(entry, `/cases/${index}`, positions))
    .slice(0, MAX_ISSUES);
}

type Mistake = { readonly key: string; readonly message: string };

function lintCase(entry: LintedCase, at: string, positions: PositionTable): PolicyIssue[] {
  const unreadable = [
    ...(entry.before ?? []).map((one, index) => [`${at}/before/${index}`, one, true] as const),
    [`${at}/event`, entry.event, false] as const,
  ].flatMap(([pointer, event, isBefore]) => {
    const message = problemOf(event, isBefore);
    const name = pointer.slice(1).replaceAll("/", ".");
    return message === undefined
      ? []
      : [issueAt(positions, pointer, "bad-value", `${name}: ${message}`)];
  });
  const conflicts = mistakesOf(entry).map(({ key, message }) =>
    issueAt(positions, childPointer(at, key), "conflict", message),
  );
  return [...unreadable, ...conflicts];
}

/** The tools that draw under every policy; the file of a case does not know which policy it will meet. */
const DRAWS: ReadonlySet<string> = new Set([...RENDERING_TOOLS.a2ui, ...RENDERING_TOOLS.html]);

function problemOf(event: JsonObject, isBefore: boolean): string | undefined {
  const { type, toolCallName } = event;
  if (isBefore && event["event_type"] !== undefined) return "an envelope draws nothing";
  const isChunk = type === "TOOL_CALL_CHUNK" && typeof toolCallName === "string";
  if (isBefore && isChunk && DRAWS.has(toolCallName)) {
    return "the end of this call is not known. Fix: write TOOL_CALL_START, TOOL_CALL_ARGS and TOOL_CALL_END";
  }
  // The content of a result may be written as an object.
  const sent = type === "TOOL_CALL_RESULT" ? { ...event, content: "" } : event;
  return readSubject(sent, { refinements: NO_REFINEMENTS }).problem;
}

function mistakesOf({ event, before, surface, shown }: LintedCase): Mistake[] {
  const isRequest = event["type"] === undefined && event["event_type"] === undefined;
  const mistakes: (Mistake | false)[] = [
    surface !== undefined &&
      before !== undefined && {
        key: "surface",
        message:
          "a case has either surface or before. Fix: write the operations into the event, and leave out surface",
      },
    shown !== undefined &&
      before !== undefined && {
        key: "shown",
        message:
          "a case has either shown or before. Fix: keep before, with the events that draw what is shown",
      },
    surface !== undefined &&
      isRequest && {
        key: "surface",
        message: "a request draws nothing. Fix: use shown for what its thread shows",
      },
    shown !== undefined &&
      !isRequest && {
        key: "shown",
        message: "only a request has clicks. Fix: use surface for what the event draws",
      },
  ];
  return mistakes.filter((one) => one !== false);
}
