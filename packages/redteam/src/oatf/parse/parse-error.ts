/** The reasons why a text is not an OATF document. */
export type ParseErrorKind = "syntax" | "type_mismatch" | "unknown_variant";

/**
 * One problem found by `parse`. Closed lists of names are checked by `validate` (V-005), so that
 * `unknown_variant`, which the SDK contract names, is left to other producers.
 */
export type ParseError = {
  readonly kind: ParseErrorKind;
  readonly message: string;
  /** `attack.indicators[0].target`. */
  readonly path?: string;
  /** Counted from 1. */
  readonly line?: number;
  /** Counted from 1. */
  readonly column?: number;
  /** The bound that was crossed, when the document is too large rather than wrong. */
  readonly limit?: { readonly name: string; readonly allowed: number };
};
