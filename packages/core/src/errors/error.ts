import type { CoreErrorFacts } from "./core-facts.js";

/**
 * Facts that travel with each error code.
 *
 * The union of codes is closed: a package adds its own by augmenting this interface beside the code
 * that throws them, and documents each in `docs/errors/<area>.md` (a check fails otherwise).
 *
 * ```ts
 * declare module "@countersign/core" {
 *   interface ErrorFacts {
 *     ERR_SSE_LINE_TOO_LONG: { limit: number; offset: number };
 *   }
 * }
 * ```
 */
export interface ErrorFacts extends CoreErrorFacts {}

/** Every stable error code of the product. */
export type ErrorCode = keyof ErrorFacts;

/**
 * Hostile or broken input, or a failed operation, with a stable code and typed facts.
 *
 * Messages and facts never contain tokens, keys, prompts or payloads.
 */
export class CountersignError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "CountersignError";
  readonly code: C;
  readonly facts: Readonly<ErrorFacts[C]>;

  constructor(code: C, message: string, facts: ErrorFacts[C], options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.facts = facts;
  }

  /** The form for logs and `--json` output. */
  toJSON(): { code: C; message: string; facts: Readonly<ErrorFacts[C]> } {
    return { code: this.code, message: this.message, facts: this.facts };
  }
}

/** Whether a caught value is a CountersignError, optionally with one particular code. */
export function isCountersignError<C extends ErrorCode = ErrorCode>(
  value: unknown,
  code?: C,
): value is CountersignError<C> {
  return value instanceof CountersignError && (code === undefined || value.code === code);
}
