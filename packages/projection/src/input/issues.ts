/** Why a part of an input was refused or dropped. */
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
 * One issue and its path in the input. `refused` means that nothing is submitted; `dropped` means
 * that only this part was omitted.
 */
export type LoweringIssue = {
  readonly code: LoweringCode;
  readonly path: string;
  readonly effect: "refused" | "dropped";
};

/** Maximum number of issues listed for one input. */
const MAX_ISSUES = 256;

/** Collects issues. */
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
