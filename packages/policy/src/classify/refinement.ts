import type { Classification } from "../vocabulary/classification.js";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";
import type { NamedEventType } from "../vocabulary/event-type.js";
import type { Target } from "../vocabulary/target.js";
import type { NameTable } from "../patterns/name-table.js";
import { isPlainName } from "../patterns/look-alike.js";
import { createNameTable } from "../patterns/name-table.js";
import type { PointerGlob } from "../patterns/pointer-glob.js";
import { splitPointer } from "../patterns/pointer-glob.js";
import { readEventType } from "../vocabulary/event-type.js";
import type {
  ClassifyBlock,
  ClassifyEntry,
  InputClassify,
  ListJudgement,
  StateClassify,
} from "../document/model.js";
import type { Aspect } from "./facts.js";
import type { InputPart } from "../vocabulary/input-part.js";

/** A policy entry for a name; omitted parts stay as in the table. */
export type Refinement = {
  readonly type?: NamedEventType;
  readonly classification?: Classification;
  readonly target?: Target;
};

/** A policy entry for a state path. */
export type StateRefinement = { readonly glob: PointerGlob; readonly refinement: Refinement };

/** The compiled additions of a policy to the classification table. */
export type Refinements = {
  readonly chat: Target;
  readonly tools: NameTable<Refinement>;
  readonly custom: NameTable<Refinement>;
  readonly raw: NameTable<Refinement>;
  readonly activities: NameTable<Refinement>;
  readonly interrupts: NameTable<Refinement>;
  /** Components of generative UI, by type: `a2ui:Text`. */
  readonly components: NameTable<Refinement>;
  /** State paths, for changes of an agent. */
  readonly state: readonly StateRefinement[];
  /** State paths, for changes of a browser. */
  readonly inboundState: readonly StateRefinement[];
  readonly input: ReadonlyMap<InputPart, Refinement>;
  /** How a message list is evaluated in addition to its messages. */
  readonly lists: ListJudgement;
  /**
   * Whether the policy lists a forwarded property by name: then it does only what it is listed for.
   */
  listsProperty(key: string): boolean;
};

/** The chat surface if a policy names no other; seed policies call it `chat-window:main`. */
export const DEFAULT_CHAT: Target = Object.freeze({
  component_type: "chat-window",
  component_id: "main",
});

/** Compiles an `ag_ui_classify` block; without one only the table applies. */
export function compileRefinements(
  block: ClassifyBlock | undefined,
  listsProperty: (key: string) => boolean = () => false,
  lists: ListJudgement = "whole",
): Refinements {
  const active = block === undefined || block.enabled === false ? {} : block;
  const input = new Map<InputPart, Refinement>();
  for (const [part, entry] of Object.entries(active.input ?? {}) as [InputPart, InputClassify][]) {
    input.set(part, readRefinement(entry));
  }
  return {
    chat: active.chat === undefined ? DEFAULT_CHAT : Object.freeze({ ...active.chat }),
    tools: compileNames(active.tools),
    custom: compileNames(active.custom),
    raw: compileNames(active.raw),
    activities: compileNames(active.activities),
    interrupts: compileNames(active.interrupts),
    components: compileNames(active.components),
    state: compilePaths(active.state, "outbound"),
    inboundState: compilePaths(active.state, "inbound"),
    input,
    lists,
    listsProperty,
  };
}

/** The table without additions. */
export const NO_REFINEMENTS: Refinements = compileRefinements(undefined);

function compileNames(entries: readonly ClassifyEntry[] | undefined): NameTable<Refinement> {
  return createNameTable((entries ?? []).map((entry) => [entry.match, readRefinement(entry)]));
}

function compilePaths(
  entries: readonly StateClassify[] | undefined,
  way: "outbound" | "inbound",
): StateRefinement[] {
  return (entries ?? [])
    .filter(({ direction = way }) => direction === way)
    .map((entry) => ({ glob: splitPointer(entry.match), refinement: readRefinement(entry) }));
}

function readRefinement(entry: InputClassify): Refinement {
  const type = readEventType(entry.event_type);
  return {
    ...(type === undefined ? {} : { type }),
    ...(entry.classification === undefined ? {} : { classification: entry.classification }),
    ...(entry.target === undefined ? {} : { target: Object.freeze({ ...entry.target }) }),
  };
}

/** Applies a refinement to an aspect of the table. */
export function refine(base: Aspect, refinement: Refinement | undefined): Aspect {
  if (refinement === undefined) return base;
  const classification = refinement.classification ?? base.classification;
  const type = refinement.type ?? base;
  const target = refinement.target ?? base.target;
  return {
    eventType: type.eventType,
    ...(type.customName === undefined
      ? type.eventType === "custom" && base.customName !== undefined
        ? { customName: base.customName }
        : {}
      : { customName: type.customName }),
    ...(target === undefined ? {} : { target }),
    classification,
    derived: classification,
  };
}

/**
 * Applies a policy entry for a name to an aspect of the table. A name without an exact entry is
 * never weaker than the entry it looks like. One with characters beyond plain ASCII may look like
 * any of them.
 */
export function refineNamed(base: Aspect, table: NameTable<Refinement>, name: string): Aspect {
  const refined = refine(base, table.find(name));
  if (table.size === 0 || table.names(name)) return refined;
  const alike = isPlainName(name) ? [table.findAlike(name)] : table.values;
  return alike.reduce((strictest: Aspect, refinement) => {
    const raised = refine(base, refinement);
    return isAtLeastAsStrict(strictest.classification, raised.classification) ? strictest : raised;
  }, refined);
}

/** Sorts the strictest aspect first: a receipt shows the strictest effect of an event. */
export function strictestFirst(aspects: readonly [Aspect, ...Aspect[]]): [Aspect, ...Aspect[]] {
  let best = 0;
  aspects.forEach((aspect, index) => {
    const current = aspects[best] ?? aspect;
    if (!isAtLeastAsStrict(current.classification, aspect.classification)) best = index;
  });
  const first = aspects[best] ?? aspects[0];
  return [first, ...aspects.filter((_, index) => index !== best)];
}
