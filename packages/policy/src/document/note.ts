/** Why a rule of a valid policy may not do what its author expects. */
export type PolicyNoteCode =
  | "fragment"
  | "no-effect"
  | "denies-everything"
  | "unreachable"
  | "weak";

/** A note about a valid policy. */
export type PolicyNote = {
  readonly code: PolicyNoteCode;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
};

/** `file:line:column: message`. */
export function formatNote(note: PolicyNote): string {
  return `${note.file}:${note.line}:${note.column}: ${note.message}`;
}
