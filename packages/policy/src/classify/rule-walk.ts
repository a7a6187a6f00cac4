import { isGlob, matchesGlob } from "../patterns/glob.js";
import type { PointerGlob } from "../patterns/pointer-glob.js";
import { plainPointer } from "./plain-pointer.js";
import type { StateRefinement } from "./refinement.js";

/**
 * A rule that can still match at or below the current path, with the matched positions of its glob.
 */
type Reached = {
  readonly rule: number;
  readonly glob: PointerGlob;
  readonly places: readonly number[];
};

/**
 * Walks the paths of a state and collects the rules of a policy that they touch. Each segment is
 * matched against the rules once, when a path below it is queried: the cost of a walk is linear in
 * the names it passes.
 */
export class RuleWalk {
  /** Indexes of the touched rules, each with the first path that touched it. */
  readonly hit = new Map<number, string>();
  /** The first path that was touched and that no rule names. */
  unnamedPath: string | undefined;
  readonly #rules: number;
  /** Whether one rule names every path, such as `/**`. */
  readonly #isCovered: boolean;
  readonly #segments: (string | number)[] = [];
  /** The matches after each segment, as far as they were queried. */
  readonly #levels: (readonly Reached[])[];

  constructor(rules: readonly StateRefinement[]) {
    this.#rules = rules.length;
    this.#levels = [
      rules.map(({ glob }, rule) => ({ rule, glob, places: withClosure(glob, [0]) })),
    ];
    this.#isCovered = this.#level().some((rule) => isMatch(rule) && coversAllBelow(rule));
  }

  /** Whether every possible result was found. */
  get isDone(): boolean {
    return (this.unnamed || this.#isCovered) && this.hit.size === this.#rules;
  }

  /** Whether nothing below the current path can add a result. */
  get isDoneBelow(): boolean {
    const isFound = ({ rule }: Reached): boolean => this.hit.has(rule);
    return this.#level().every(isFound) && (this.unnamed || this.coversBelow());
  }

  /**
   * The names of members below which something is still to be found; nothing where that may be any name.
   *
   * Once a path was touched that no rule names, only the rules matter that were not touched yet.
   */
  get namesBelow(): ReadonlySet<string> | undefined {
    if (!this.unnamed) return undefined;
    const names = new Set<string>();
    for (const { rule, glob, places } of this.#level()) {
      if (this.hit.has(rule)) continue;
      for (const at of places) {
        const name = glob[at];
        if (name === undefined) continue;
        if (isGlob(name)) return undefined;
        names.add(name);
      }
    }
    return names;
  }

  enter(segment: string | number): void {
    this.#segments.push(segment);
  }

  leave(): void {
    this.#segments.pop();
    if (this.#levels.length > this.#segments.length + 1) this.#levels.pop();
  }

  /** Returns to the root. */
  restart(): void {
    this.#segments.length = 0;
    this.#levels.length = 1;
  }

  /** Touches the current path; the first rule that names it decides. Returns whether one does. */
  touch(): boolean {
    const named = this.#level().find(isMatch);
    if (named !== undefined) this.#add(named.rule);
    return named !== undefined;
  }

  /** Touches everything that may be below the current path. */
  touchBelow(): void {
    for (const { rule } of this.#level()) this.#add(rule);
  }

  /** Whether one rule names every path that may be below the current one. */
  coversBelow(): boolean {
    return this.#level().some(coversAllBelow);
  }

  /**
   * Touches everything that may be below the current path, except rules that name the path itself.
   */
  touchMembers(): void {
    for (const reached of this.#level()) if (!isMatch(reached)) this.#add(reached.rule);
  }

  /** Touches every path: every rule, and a path without a rule unless one rule names them all. */
  touchAll(): void {
    for (let rule = 0; rule < this.#rules; rule++) this.#add(rule);
    if (!this.#isCovered) this.touchUnnamed();
  }

  /** Touches the current path as one that no rule names. */
  touchUnnamed(): void {
    this.unnamedPath ??= plainPointer(this.#segments);
  }

  /** Whether a path was touched that no rule names. */
  get unnamed(): boolean {
    return this.unnamedPath !== undefined;
  }

  #add(rule: number): void {
    if (!this.hit.has(rule)) this.hit.set(rule, plainPointer(this.#segments));
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

// `**` also matches no segment, so a position before it reaches the one after it.
function withClosure(glob: PointerGlob, places: readonly number[]): readonly number[] {
  const all = new Set(places);
  for (const at of all) if (glob[at] === "**") all.add(at + 1);
  return [...all];
}

function isMatch({ glob, places }: Reached): boolean {
  return places.includes(glob.length);
}

// `**` matches descendants at any depth. One `*` beside it only requires that one exists.
function coversAllBelow({ glob, places }: Reached): boolean {
  return places.some((at) => {
    const rest = glob.slice(at);
    const isAny = rest.includes("**") && rest.every((part) => part === "**" || part === "*");
    return isAny && rest.filter((part) => part === "*").length <= 1;
  });
}
