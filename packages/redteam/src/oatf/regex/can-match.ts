import type { RE2JS } from "re2js";

/** One instruction of a compiled pattern, by the numbers of the engine. */
type Instruction = { readonly op: number; readonly out: number; readonly arg: number };
type Program = { readonly start: number; readonly inst: readonly Instruction[] };

const ALTERNATIVES: ReadonlySet<number> = new Set([1, 2]);
const EMPTY_WIDTH = 4;
const FAIL = 5;
const MATCH = 6;
const RUNES: ReadonlySet<number> = new Set([8, 9, 10, 11]);
const BEGIN_TEXT = 4;
const END_TEXT = 8;

/**
 * Whether some text can match a pattern.
 *
 * The end of its program must be reachable. A path is impossible when it needs the start of the text behind a
 * character (`a^b`), or a character behind the end (`a$b`). Word and line boundaries count as possible.
 */
export function canMatchSomething(pattern: RE2JS): boolean {
  const program = (pattern as unknown as { re2Input?: { prog?: Program } }).re2Input?.prog;
  if (program === undefined) return true;
  const seen = new Set<number>();
  const waiting: [at: number, hasRead: boolean, isAtEnd: boolean][] = [
    [program.start, false, false],
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [at, hasRead, isAtEnd] = next;
    const key = at * 4 + (hasRead ? 2 : 0) + (isAtEnd ? 1 : 0);
    if (seen.has(key)) continue;
    seen.add(key);
    const instruction = program.inst[at];
    if (instruction === undefined || instruction.op === MATCH) return true;
    const { op, out, arg } = instruction;
    if (op === FAIL) continue;
    if (ALTERNATIVES.has(op)) waiting.push([out, hasRead, isAtEnd], [arg, hasRead, isAtEnd]);
    else if (RUNES.has(op)) {
      if (!isAtEnd) waiting.push([out, true, false]);
    } else if (op === EMPTY_WIDTH) {
      if ((arg & BEGIN_TEXT) !== 0 && hasRead) continue;
      waiting.push([out, hasRead, isAtEnd || (arg & END_TEXT) !== 0]);
    } else waiting.push([out, hasRead, isAtEnd]);
  }
  return false;
}
