/** Why a rule of a loaded policy may not do what its author thinks. */
export type PolicyNoteCode =
  | "fragment"
  | "no-effect"
  | "denies-everything"
  | "unreachable"
  | "weak";

/** A remark on a policy that loads. */
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
