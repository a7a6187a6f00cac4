/** What must not be in any frame. */
export type SafetySpec = {
  readonly forbiddenLiterals?: readonly string[];
  readonly forbiddenPatterns?: readonly RegExp[];
  /** The longest text a pattern matches, for checks on a moving stream. Default 256. */
  readonly maxMatchLength?: number;
};

/** How the forbidden text was written. */
export type Encoding = "plain" | "json" | "percent" | "base64" | "hex";

/**
 * Where forbidden text is. The text itself is not repeated: an issue is made to be logged. `rule` is the
 * position in the spec's list.
 */
export type SafetyIssue = {
  readonly kind: "literal" | "pattern" | "unchecked";
  readonly rule: number;
  readonly frameIndex: number;
  /** `$.value.items[2]`; a name of a member ends in `~key`. */
  readonly path: string;
  /** Characters before the match in the text at that path; for joined deltas, in the first of them. */
  readonly offset: number;
  /** From the outside in; `plain` is an empty list. */
  readonly encodings: readonly Encoding[];
  /** The match goes over several deltas of one message or call. */
  readonly isSplit: boolean;
};

/** A finding in one text. */
export type Finding = Pick<SafetyIssue, "kind" | "rule" | "offset" | "encodings">;

/** The rules of a spec, ready to be searched for. */
export class SafetyRules {
  readonly literals: readonly string[];
  readonly patterns: readonly RegExp[];
  readonly maxMatchLength: number;
  /** Short texts found clean: names, ids and times repeat in every frame. */
  readonly clean = new Set<string>();

  constructor(spec: SafetySpec) {
    this.literals = spec.forbiddenLiterals ?? [];
    // Own copies without state: a sticky or global pattern remembers where it stopped.
    this.patterns = (spec.forbiddenPatterns ?? []).map(
      (pattern) => new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, "")),
    );
    this.maxMatchLength = spec.maxMatchLength ?? 256;
  }

  /** The first place of each rule in a text. */
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
