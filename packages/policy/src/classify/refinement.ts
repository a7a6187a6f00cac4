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

/** What a policy says about a name: the parts it leaves out stay as the table has them. */
export type Refinement = {
  readonly type?: NamedEventType;
  readonly classification?: Classification;
  readonly target?: Target;
};

/** What a policy says about a path of the state. */
export type StateRefinement = { readonly glob: PointerGlob; readonly refinement: Refinement };

/** The policy's additions to the classification table, ready to be asked. */
export type Refinements = {
  readonly chat: Target;
  readonly tools: NameTable<Refinement>;
  readonly custom: NameTable<Refinement>;
  readonly raw: NameTable<Refinement>;
  readonly activities: NameTable<Refinement>;
  readonly interrupts: NameTable<Refinement>;
  /** Paths of the state, for what an agent changes. */
  readonly state: readonly StateRefinement[];
  /** The same for what a browser changes. */
  readonly inboundState: readonly StateRefinement[];
  readonly input: ReadonlyMap<InputPart, Refinement>;
  /** How a message list is judged beside its messages. */
  readonly lists: ListJudgement;
  /** Whether the policy lists a forwarded property by name: then it does no more than it is listed for. */
  listsProperty(key: string): boolean;
};

/** The chat surface where a policy names no other; seed policies call it `chat-window:main`. */
export const DEFAULT_CHAT: Target = Object.freeze({
  component_type: "chat-window",
  component_id: "main",
});

/** Compiles an `ag_ui_classify` block; without one the table stands alone. */
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
    state: compilePaths(active.state, "outbound"),
    inboundState: compilePaths(active.state, "inbound"),
    input,
    lists,
    listsProperty,
  };
}

/** The table alone. */
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

/** Lays a refinement over an aspect of the table. */
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
 * Lays what a policy says about a name over an aspect of the table.
 *
 * A name that no entry spells out is never gentler than the entry it looks like. One with characters beyond plain
 * ASCII may look like any of them.
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

/** The strictest aspect first, the others behind it: what a receipt shows is the worst an event does. */
export function strictestFirst(aspects: readonly [Aspect, ...Aspect[]]): [Aspect, ...Aspect[]] {
  let best = 0;
  aspects.forEach((aspect, index) => {
    const current = aspects[best] ?? aspect;
    if (!isAtLeastAsStrict(current.classification, aspect.classification)) best = index;
  });
  const first = aspects[best] ?? aspects[0];
  return [first, ...aspects.filter((_, index) => index !== best)];
}
