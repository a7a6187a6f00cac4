import type { RuleCode } from "./rules.js";

/** A broken rule of the format. */
export type ValidationError = {
  readonly rule: RuleCode;
  /** The section of the OATF specification. */
  readonly spec_ref: string;
  readonly message: string;
  /** `attack.indicators[0].target`. */
  readonly path: string;
  /** Counted from 1; absent for documents that were not parsed from text. */
  readonly line?: number;
  /** Counted from 1; absent for documents that were not parsed from text. */
  readonly column?: number;
};

/** Something that may be intended and is worth a look. */
export type Diagnostic = {
  readonly severity: "warning";
  readonly code: WarningCode;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
};

/** Codes of warnings: those of the SDK contract, two V-rules that only warn, and our own `CS-` codes. */
export type WarningCode =
  | `W-00${1 | 2 | 3 | 4 | 5 | 6 | 7}`
  | "V-018"
  | "V-029"
  | `CS-00${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

/** All that is wrong with a document and all that is odd; it is valid when `errors` is empty. */
export type ValidationResult = {
  readonly errors: readonly ValidationError[];
  readonly warnings: readonly Diagnostic[];
};
