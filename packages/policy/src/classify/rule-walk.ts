import { matchesGlob } from "../patterns/glob.js";
import type { PointerGlob } from "../patterns/pointer-glob.js";
import type { StateRefinement } from "./refinement.js";

/** A rule that can still match at or below the current path: how far into its glob the path has come. */
type Reached = {
  readonly rule: number;
  readonly glob: PointerGlob;
  readonly places: readonly number[];
};

/**
 * Walks the paths of a state and collects which rules of a policy they touch.
 *
 * Each segment is held against the rules once, when a path below it is asked about: the cost of a walk is linear in
 * the names it passes.
 */
export class RuleWalk {
  /** Places of the rules that were touched. */
  readonly hit = new Set<number>();
  /** Whether a path was touched that no rule names. */
  unnamed = false;
  readonly #rules: number;
  readonly #segments: (string | number)[] = [];
  /** What is reached after each segment, as far as it was asked about. */
  readonly #levels: (readonly Reached[])[];

  constructor(rules: readonly StateRefinement[]) {
    this.#rules = rules.length;
    this.#levels = [
      rules.map(({ glob }, rule) => ({ rule, glob, places: withClosure(glob, [0]) })),
    ];
  }

  /** Everything there is to find was found. */
  get isDone(): boolean {
    return this.unnamed && this.hit.size === this.#rules;
  }

  /** Nothing that may lie below the current path is still to be found. */
  get isDoneBelow(): boolean {
    const isFound = ({ rule }: Reached): boolean => this.hit.has(rule);
    return this.#level().every(isFound) && (this.unnamed || this.coversBelow());
  }

  enter(segment: string | number): void {
    this.#segments.push(segment);
  }

  leave(): void {
    this.#segments.pop();
    if (this.#levels.length > this.#segments.length + 1) this.#levels.pop();
  }

  /** Walks back to the root. */
  restart(): void {
    this.#segments.length = 0;
    this.#levels.length = 1;
  }

  /** Touches the current path; the first rule that names it decides, and is told by the answer. */
  touch(): boolean {
    const named = this.#level().find(isMatch);
    if (named !== undefined) this.hit.add(named.rule);
    return named !== undefined;
  }

  /** Touches what may lie below the current path. */
  touchBelow(): void {
    for (const { rule } of this.#level()) this.hit.add(rule);
  }

  /** Whether one rule names every path that may lie below the current one. */
  coversBelow(): boolean {
    return this.#level().some(coversAllBelow);
  }

  /** Touches what may lie below the current path, but for rules that name the path itself. */
  touchMembers(): void {
    for (const reached of this.#level()) if (!isMatch(reached)) this.hit.add(reached.rule);
  }

  /** Touches everything. */
  touchAll(): void {
    for (let rule = 0; rule < this.#rules; rule++) this.hit.add(rule);
    this.unnamed = true;
  }

  #level(): readonly Reached[] {
    const levels = this.#levels;
    for (let depth = levels.length; depth <= this.#segments.length; depth++) {
      levels.push(step(levels[depth - 1] ?? [], `${this.#segments[depth - 1] ?? ""}`));
    }
    return levels[this.#segments.length] ?? [];
  }
}

function step(level: readonly Reached[], segment: string): readonly Reached[] {
  const next: Reached[] = [];
  for (const { rule, glob, places } of level) {
    const reached: number[] = [];
    for (const at of places) {
      const part = glob[at];
      if (part === undefined) continue;
      if (part === "**") reached.push(at);
      else if (matchesGlob(part, segment)) reached.push(at + 1);
    }
    if (reached.length > 0) next.push({ rule, glob, places: withClosure(glob, reached) });
  }
  return next;
}

// `**` also stands for no segment at all, so a place before it reaches the one behind it.
function withClosure(glob: PointerGlob, places: readonly number[]): readonly number[] {
  const all = new Set(places);
  for (const at of all) if (glob[at] === "**") all.add(at + 1);
  return [...all];
}

function isMatch({ glob, places }: Reached): boolean {
  return places.includes(glob.length);
}

// `**` names what lies below at any depth. One `*` beside it only asks that something lies there.
function coversAllBelow({ glob, places }: Reached): boolean {
  return places.some((at) => {
    const rest = glob.slice(at);
    const isAny = rest.includes("**") && rest.every((part) => part === "**" || part === "*");
    return isAny && rest.filter((part) => part === "*").length <= 1;
  });
}
