/** Why something of an input was refused or left out. */
export type LoweringCode =
  | "malformed-json"
  | "malformed-input"
  | "snake-case-twin"
  | "unknown-role"
  | "unknown-material"
  | "thread-not-owned"
  | "role-not-allowed"
  | "too-many-messages"
  | "intent-missing"
  | "intent-too-large"
  | "intent-part-not-text"
  | "forwarded-prop-not-allowed"
  | "forwarded-props-too-large"
  | "state-not-allowed"
  | "state-too-large"
  | "context-not-allowed"
  | "context-too-large"
  | "client-tool-not-allowed"
  | "redacted-arguments"
  | "resume-conflict"
  | "resume-duplicate"
  | "resume-unknown-interrupt"
  | "resume-not-covered"
  | "resume-expired"
  | "resume-payload-invalid"
  | "resume-raw-secret";

/**
 * One reason and its place in the input. `refused` means that nothing is submitted; `dropped` means that
 * this part alone was left out.
 */
export type LoweringIssue = {
  readonly code: LoweringCode;
  readonly path: string;
  readonly effect: "refused" | "dropped";
};

/** Issues told of one input; the rest is not listed. */
const MAX_ISSUES = 256;

/** Collects reasons. */
export class LoweringIssues {
  readonly list: LoweringIssue[] = [];
  #isRefused = false;

  get isRefused(): boolean {
    return this.#isRefused;
  }

  refuse(code: LoweringCode, path: string): void {
    this.#isRefused = true;
    this.#add({ code, path, effect: "refused" });
  }

  drop(code: LoweringCode, path: string): void {
    this.#add({ code, path, effect: "dropped" });
  }

  #add(issue: LoweringIssue): void {
    if (this.list.length < MAX_ISSUES) this.list.push(issue);
  }
}
