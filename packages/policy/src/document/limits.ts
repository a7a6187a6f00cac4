/** Bounds on a policy document. Each is far above what people write and far below what hurts. */
export type PolicyLimits = {
  /** UTF-16 code units of one file. */
  readonly maxTextLength: number;
  /** Nesting of mappings and lists. */
  readonly maxDepth: number;
  /** Values in one file, aliases counted every time they are used. */
  readonly maxNodes: number;
  /** Uses of aliases in one file. */
  readonly maxAliases: number;
  /** Files a chain of `extends` may have. */
  readonly maxExtends: number;
  /** Problems reported before the reader stops looking. */
  readonly maxIssues: number;
};

/** The bounds that hold unless a caller gives others. */
export const DEFAULT_POLICY_LIMITS: PolicyLimits = Object.freeze({
  maxTextLength: 524_288,
  maxDepth: 32,
  maxNodes: 30_000,
  maxAliases: 100,
  maxExtends: 8,
  maxIssues: 50,
});
