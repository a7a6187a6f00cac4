import type { SurfaceComponent, SurfaceInfo } from "../base/facts.js";
import type { ChildReference, Definition } from "./definition.js";
import type { OwnFacts } from "./read-component.js";
import type { Read } from "./readers.js";

/** A component drawn at one place of the data: a node of the tree that a person sees. */
export interface Instance {
  readonly key: string;
  definition: Definition;
  readonly scope: string;
  /** How often each parent draws it; the root has none. */
  readonly parents: Map<Instance, number>;
  /** The references that {@link slots} are drawn for. */
  references: readonly ChildReference[];
  /** Children by reference. */
  slots: Instance[][];
  /** Ids that it refers to and that are not defined, with the references. */
  readonly waits: Map<string, number[]>;
  own: OwnFacts;
  /** The part of {@link own} that its hash covers; undefined until it is described. */
  form: string | undefined;
  /** Data paths that it is registered for. */
  reads: ReadonlyMap<string, Read<Instance>>;
  described: SurfaceComponent | undefined;
  /** The cost of describing it. */
  cost: number;
}

/** The settings of a surface. */
export type SurfaceSettings = Pick<
  SurfaceInfo,
  "version" | "catalogueId" | "sendDataModel" | "theme"
> & { readonly rootId: string | undefined };

/** A component that was not read yet. */
const UNREAD: OwnFacts = {
  resolved: {},
  labels: [],
  visibleLabels: [],
  isLabelExact: true,
  accessibilityLabel: undefined,
  actions: [],
  functionCalls: [],
  urls: [],
  inputs: [],
  texts: [],
  paths: new Set(),
  inputPaths: [],
};

/** A component that is about to be read. */
export function createInstance(
  definition: Definition,
  scope: string,
  described: SurfaceComponent | undefined,
): Instance {
  return {
    key: instanceKey(definition.id, scope),
    definition,
    scope,
    parents: new Map(),
    references: [],
    slots: [],
    waits: new Map(),
    own: UNREAD,
    form: undefined,
    reads: new Map(),
    described,
    cost: 0,
  };
}

/** The identity of a drawn component within its surface. */
export function instanceKey(id: string, scope: string): string {
  return `${id}\n${scope}`;
}

/** Whether a person can act on it: its label is that of its whole subtree. */
export function isActing({ own }: Instance): boolean {
  return own.actions.length > 0 || own.inputs.length > 0;
}

/** Whether every child that it certainly has is defined. */
export function hasAllChildren({ references, waits }: Instance): boolean {
  return waits.size === 0 || !references.some(({ id, isCertain }) => isCertain && waits.has(id));
}
