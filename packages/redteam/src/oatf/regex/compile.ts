import { RE2JS } from "re2js";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { createBoundedCache } from "../json/bounded-cache.js";
import { canMatchSomething } from "./can-match.js";
import { estimateInstructions } from "./estimate.js";

/** The longest pattern a document may carry. */
export const MAX_PATTERN_LENGTH = 4096;
/** The largest compiled program; `(a?){1000}` has 4003 instructions. */
export const MAX_PROGRAM_SIZE = 5000;
/** The largest estimate of a program that is compiled at all; estimates run high. */
const MAX_ESTIMATE = 4 * MAX_PROGRAM_SIZE;
/**
 * Characters times instructions one search may take. RE2 is linear in both: at this bound the slowest
 * pattern we found searched for 0.9 s, everyday ones for 0.1 to 0.3 s.
 */
export const MAX_SEARCH_WORK = 20_000_000;

/**
 * Up to this length the automaton answers: ten times faster on everyday patterns, but patterns made for
 * the purpose fill its cache of states again and again (83 µs for each character, measured).
 */
const MAX_AUTOMATON_LENGTH = 1024;

/** A pattern that answers in time linear in the text, or refuses when the text is too long for it. */
export type LinearRegex = {
  /** Capture groups the pattern has. */
  readonly groups: number;
  /** Whether some text can match; `false` only where that is certain. */
  readonly canMatch: boolean;
  /** Unanchored search. */
  test(text: string): boolean;
  /** The first match, `undefined` without one; `group` is `undefined` when group 1 took no part. */
  find(text: string): { readonly match: string; readonly group: string | undefined } | undefined;
};

/** A pattern, or the sentence that says why it is none. */
export type RegexCompilation =
  | { readonly regex: LinearRegex; readonly problem?: never }
  | { readonly problem: string; readonly regex?: never };

const TOO_LARGE: RegexCompilation = {
  problem: `the pattern compiles to more than ${MAX_PROGRAM_SIZE} instructions`,
};
const cache = createBoundedCache<RegexCompilation>(512);

/** Compiles with RE2 semantics: no look-around, no back-references, never the backtracking engine. */
export function compileRegex(source: string): RegexCompilation {
  if (source.length > MAX_PATTERN_LENGTH) {
    return { problem: `the pattern is longer than ${MAX_PATTERN_LENGTH} characters` };
  }
  return cache.getOrCreate(source, compile);
}

/** The compiled pattern, or the failure a run-time evaluation reports. */
export function requireRegex(source: string): LinearRegex {
  const { regex, problem } = compileRegex(source);
  if (regex === undefined) throw new EvaluationFailure("type_error", problem);
  return regex;
}

function compile(source: string): RegexCompilation {
  if (estimateInstructions(source) > MAX_ESTIMATE) return TOO_LARGE;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RangeError) return { problem: "the pattern is nested too deeply" };
    const detail = error instanceof Error ? error.message : "not a regular expression";
    return { problem: detail.slice(0, 200) };
  }
  const size = compiled.matcher("").programSize();
  if (size > MAX_PROGRAM_SIZE) return TOO_LARGE;
  const afford = (text: string): void => {
    if (text.length * size > MAX_SEARCH_WORK) {
      throw new EvaluationFailure(
        "regex_timeout",
        `searching ${text.length} characters with ${size} instructions is over the limit`,
      );
    }
  };
  return {
    regex: {
      groups: compiled.groupCount(),
      canMatch: canMatchSomething(compiled),
      test(text) {
        afford(text);
        if (text.length <= MAX_AUTOMATON_LENGTH) return compiled.test(text);
        return compiled.matcher(text).find();
      },
      find(text) {
        afford(text);
        const matcher = compiled.matcher(text);
        if (!matcher.find()) return undefined;
        const group = compiled.groupCount() > 0 ? matcher.group(1) : null;
        return { match: matcher.group(0) ?? "", group: group ?? undefined };
      },
    },
  };
}
