import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A stream carried something other than a JSON object where an event was due. */
    ERR_DIALECT_NOT_OBJECT: { event: number };
    /** A field of a translated dialect holds a value that has no translation. */
    ERR_DIALECT_FIELD: { event: number; type: string; field: string; expected: string };
    /** A field is present twice, in snake_case and in camelCase. */
    ERR_DIALECT_DOUBLE_SPELLING: { event: number; path: string };
    /** A stream in one dialect carries an event of another. */
    ERR_DIALECT_MIXED: { event: number; dialect: string };
    /** A THINKING continuation has no opener whose id it could carry. */
    ERR_DIALECT_THINKING_NOT_OPEN: { event: number; type: string };
    /** An event envelope breaks its closed shape or its boundary rules. */
    ERR_DIALECT_ENVELOPE: { event: number; field: string; problem: string };
    /** A request body has no translation between the dialects. */
    ERR_DIALECT_REQUEST: { field: string; expected: string };
  }
}

/** The codes that translation throws. */
export type DialectErrorCode = Extract<ErrorCode, `ERR_DIALECT_${string}`>;
