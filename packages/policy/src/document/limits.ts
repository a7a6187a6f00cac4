/** Limits of a policy document. Each is far above real documents and far below harmful ones. */
export type PolicyLimits = {
  /** UTF-16 code units of one file. */
  readonly maxTextLength: number;
  /** Nesting of mappings and lists. */
  readonly maxDepth: number;
  /** Values in one file; each use of an alias counts. */
  readonly maxNodes: number;
  /** Uses of aliases in one file. */
  readonly maxAliases: number;
  /** Maximum number of files in a chain of `extends`. */
  readonly maxExtends: number;
  /** Problems reported before the reader stops. */
  readonly maxIssues: number;
};

/** The default limits. */
export const DEFAULT_POLICY_LIMITS: PolicyLimits = Object.freeze({
  maxTextLength: 524_288,
  maxDepth: 32,
  maxNodes: 30_000,
  maxAliases: 100,
  maxExtends: 8,
  maxIssues: 50,
});
