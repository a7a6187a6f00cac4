/** The content that must not be in any frame. */
export type SafetySpec = {
  readonly forbiddenLiterals?: readonly string[];
  readonly forbiddenPatterns?: readonly RegExp[];
  /** The longest match of a pattern, for checks on a stream. Default 256. */
  readonly maxMatchLength?: number;
};

/** The encoding of the forbidden text. */
export type Encoding = "plain" | "json" | "percent" | "base64" | "hex";

/**
 * The position of forbidden text. It does not contain the text itself, because issues are logged.
 * `rule` is the index in the spec's list.
 */
export type SafetyIssue = {
  readonly kind: "literal" | "pattern" | "unchecked";
  readonly rule: number;
  readonly frameIndex: number;
  /** `$.value.items[2]`; a member name ends in `~key`. */
  readonly path: string;
  /**
   * Characters before the match in the text at that path; for joined deltas, in the first of them.
   */
  readonly offset: number;
  /** From the outside in; empty for plain text. */
  readonly encodings: readonly Encoding[];
  /** The match spans several deltas of one message or call. */
  readonly isSplit: boolean;
};

/** A finding in one text. */
export type Finding = Pick<SafetyIssue, "kind" | "rule" | "offset" | "encodings">;

/** The rules of a spec, ready to search. */
export class SafetyRules {
  readonly literals: readonly string[];
  readonly patterns: readonly RegExp[];
  readonly maxMatchLength: number;
  /** Short texts without a match: names, ids and times repeat in every frame. */
  readonly clean = new Set<string>();

  constructor(spec: SafetySpec) {
    this.literals = spec.forbiddenLiterals ?? [];
    // Stateless copies: a sticky or global pattern keeps its last position.
    this.patterns = (spec.forbiddenPatterns ?? []).map(
      (pattern) => new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, "")),
    );
    this.maxMatchLength = spec.maxMatchLength ?? 256;
  }

  /** The first match of each rule in a text. */
  *search(text: string): Iterable<{ kind: "literal" | "pattern"; rule: number; offset: number }> {
    for (const [rule, literal] of this.literals.entries()) {
      const offset = literal === "" ? -1 : text.indexOf(literal);
      if (offset >= 0) yield { kind: "literal", rule, offset };
    }
    for (const [rule, pattern] of this.patterns.entries()) {
      const match = pattern.exec(text);
      if (match !== null && match[0] !== "") yield { kind: "pattern", rule, offset: match.index };
    }
  }
}
