/** Bounds on a document. Each is far above what people write and far below what hurts. */
export type OatfLimits = {
  /** UTF-16 code units of one document. */
  readonly maxTextLength: number;
  /** Nesting of mappings and lists. */
  readonly maxDepth: number;
  /** Values in one document, aliases counted every time they are used. */
  readonly maxNodes: number;
  /** Problems reported before the reader stops looking. */
  readonly maxErrors: number;
};

/** The bounds that hold unless a caller gives others. */
export const DEFAULT_OATF_LIMITS: OatfLimits = Object.freeze({
  maxTextLength: 1_048_576,
  maxDepth: 64,
  maxNodes: 10_000,
  maxErrors: 100,
});

/** How deep a message may be nested before evaluation refuses it (a deeper one would be a hiding place). */
export const MAX_MESSAGE_DEPTH = 64;

/** Characters one interpolated document value may grow to. */
export const MAX_INTERPOLATED_LENGTH = 4_194_304;
