import "@countersign/core";
import type { ParseError } from "./parse/parse-error.js";
import type { ValidationError } from "./validate/finding.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A text that is not an OATF document: broken YAML, a wrong type or an unknown field. */
    ERR_OATF_PARSE: { errors: readonly ParseError[] };
    /** A document that breaks rules of the format. */
    ERR_OATF_INVALID: { errors: readonly ValidationError[] };
    /** A document or a value built from one is larger than we are willing to handle. */
    ERR_OATF_LIMIT: { limit: string; allowed: number };
    /** A text that is not a duration. */
    ERR_OATF_DURATION: { length: number };
    /** An evaluation was asked of a document that has no indicators. */
    ERR_OATF_NO_INDICATORS: { attack: string };
  }
}
