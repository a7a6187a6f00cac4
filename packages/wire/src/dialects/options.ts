/** The kinds of id a translation creates. */
export type MintKind = "thread" | "run" | "message" | "toolCall";

/** Gives a fresh id; time and randomness come in through this door. */
export type MintId = (kind: MintKind) => string;

/** A dialect that an agent or a client may speak. */
export type Dialect = "1.0" | "0.0" | "0.1.0" | "chio";

/** The context of a translation to 1.0. */
export type UpgradeOptions = {
  /** `auto` decides from the stream itself, see `docs/wire/dialects.md`. */
  dialect: Dialect | "auto";
  /** The conversation, for dialects that do not name it. */
  threadId?: string;
  /** The requested run, for dialects whose request cannot name it. */
  runId?: string;
  mintId: MintId;
};

const DIALECTS: readonly string[] = ["auto", "1.0", "0.0", "0.1.0", "chio"];

/** Refuses a caller's mistake at construction. */
export function assertUpgradeOptions(options: UpgradeOptions): void {
  if (!DIALECTS.includes(options.dialect)) {
    throw new TypeError(`dialect must be one of ${DIALECTS.join(", ")}`);
  }
  if (typeof options.mintId !== "function") throw new TypeError("mintId must be a function");
}
