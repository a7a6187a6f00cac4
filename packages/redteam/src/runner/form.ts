import { isCountersignError, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { upgradeInput } from "@countersign/wire/dialects";
import { enforceEvent, enforceInput } from "@countersign/wire/enforce";

/**
 * Whether a phase or an execution says that the form of its requests is the attack: input that is not valid AG-UI is
 * then a payload, and a refusal of it is a defence.
 */
export function attacksByForm(holder: object | undefined): boolean {
  return ownMember(holder, "x-countersign-form") === "attack";
}

/** Translations from older versions of AG-UI that lose nothing and that every agent of that version reads alike. */
const OLDER_FORMS: ReadonlySet<string> = new Set([
  "null-absent",
  "binary-part-upgraded",
  "binary-part-mirrored",
]);

/** The first part of an input that is not valid AG-UI, or that AG-UI does not define; `undefined` if there is none. */
export function malformedPart(input: JsonValue): string | undefined {
  return firstProblem(() => {
    const { input: upgraded, notes } = upgradeInput(input, { dialect: "auto", mintId: () => "id" });
    const note = notes.find(({ rule }) => !OLDER_FORMS.has(rule));
    if (note !== undefined) return `${note.path}: ${note.message}`;
    let removed: string | undefined;
    enforceInput(upgraded, ({ kind, path }) => {
      removed ??=
        kind === "unknownMember"
          ? `AG-UI defines no such role or type: ${path}`
          : `AG-UI defines no ${path}`;
    });
    return removed;
  });
}

/** {@link malformedPart} of a text that is sent in place of an input. */
export function malformedPartOfBody(body: string): string | undefined {
  return firstProblem(() => malformedPart(parseJson(body)));
}

/** {@link malformedPart} of an event that a client sends. */
export function malformedPartOfEvent(event: JsonObject): string | undefined {
  return firstProblem(() => {
    const note = enforceEvent(event).notes.find(({ kind }) => kind !== "nullOmitted");
    if (note === undefined) return undefined;
    return note.kind === "unknownEvent"
      ? `AG-UI defines no event ${note.type}`
      : `AG-UI defines no ${note.path}`;
  });
}

function firstProblem(find: () => string | undefined): string | undefined {
  try {
    return find();
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return error.message;
  }
}
