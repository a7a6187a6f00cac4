/**
 * A removal by enforcement, and its position.
 *
 * - `unknownEvent`: the whole event, its type is not of this protocol.
 * - `unknownProperty`: a member that the protocol does not define.
 * - `unknownMember`: a value whose discriminator names no known member of its union. An outcome removed
 *   this way reads as success afterwards, so a gateway reports it.
 * - `nullOmitted`: a null that the protocol forgives and reads as absent.
 * - `notesOmitted`: the event held more removals than are listed.
 */
export type EnforceNote =
  | { readonly kind: "unknownEvent"; readonly path: ""; readonly type: string }
  | { readonly kind: "unknownProperty"; readonly path: string }
  | { readonly kind: "unknownMember"; readonly path: string }
  | { readonly kind: "nullOmitted"; readonly path: string }
  | { readonly kind: "notesOmitted"; readonly path: ""; readonly count: number };

/** One removal of unknown material, told as it happens: notes are bounded, removals are not. */
export type Removal = {
  readonly kind: "unknownProperty" | "unknownMember";
  readonly path: string;
  /** Of a property: its whole name, and the names that AG-UI defines in its place. */
  readonly key?: string;
  readonly defined?: readonly string[];
};

/** Notes listed per event or input; a peer that sends a million unknown keys gets this many and a count. */
export const MAX_NOTES = 64;

/** Characters kept of a name the peer chose. */
export const MAX_NAME_LENGTH = 64;

/** A peer's name, cut to a bounded length. */
export function boundedName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`;
}

/** A path extended by one RFC 6901 token. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}/${key}`;
  return `${path}/${boundedName(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Collects notes up to the bound and counts the rest. */
export class NoteList {
  readonly #notes: EnforceNote[] = [];
  #omitted = 0;

  /** Adds one removal. */
  add(kind: "unknownProperty" | "unknownMember" | "nullOmitted", path: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push({ kind, path });
    else this.#omitted++;
  }

  /** The notes in the order of removal. */
  finish(): readonly EnforceNote[] {
    if (this.#omitted > 0) {
      this.#notes.push({ kind: "notesOmitted", path: "", count: this.#omitted });
    }
    return this.#notes;
  }
}
