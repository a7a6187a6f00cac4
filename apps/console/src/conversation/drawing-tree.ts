import type { SurfaceComponent, SurfaceDrawing } from "@countersign/surface";

/** A component with what is drawn in it. */
export type DrawingNode = {
  readonly component: SurfaceComponent;
  /** How deep it lies on the surface; deeper components are drawn beside each other. */
  readonly depth: number;
  readonly children: DrawingNode[];
  /** Whether it is the reason why the drawing was blocked. */
  readonly hasDecided: boolean;
};

/** Boxes in boxes; a phone has no place for more. */
export const MAX_NESTING = 5;

/**
 * The boxes of a drawing. Texts within something to press are left out: they are its label. So are boxes that are nested deeply
 * and have nothing but other boxes; they are counted.
 *
 * @param reason why the drawing was blocked, if it was
 */
export function treeOf(
  { components }: SurfaceDrawing,
  reason: string | undefined,
): { readonly roots: readonly DrawingNode[]; readonly leftOut: number } {
  let leftOut = 0;
  const roots: DrawingNode[] = [];
  const path: DrawingNode[] = [];
  let hiddenBelow = Infinity;
  for (const { component, depth } of components) {
    const hasDecided = isNamed(component, reason);
    if (depth > hiddenBelow && !hasDecided && isPlain(component)) continue;
    if (depth <= hiddenBelow) hiddenBelow = component.actions.length > 0 ? depth : Infinity;
    while ((path.at(-1)?.depth ?? -1) >= depth) path.pop();
    if (path.length >= MAX_NESTING && !hasDecided && isPlain(component) && component.label === "") {
      leftOut += 1;
      continue;
    }
    const node: DrawingNode = { component, depth, children: [], hasDecided };
    const parent = path.at(Math.min(path.length, MAX_NESTING) - 1);
    (parent?.children ?? roots).push(node);
    path.push(node);
  }
  return { roots, leftOut };
}

/** Whether it has no more to say than the label of what it lies in. */
function isPlain({ actions, inputs, urls, kind }: SurfaceComponent): boolean {
  return kind === "a2ui" && actions.length + inputs.length + urls.length === 0;
}

/** Characters of a name that a reason has. */
const LONGEST_NAME = 80;

/** A reason names a component as `a2ui:Button "surface/id"`. */
function isNamed({ componentType, componentId }: SurfaceComponent, reason = ""): boolean {
  const [type, id] = [componentType, componentId].map((name) =>
    JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name),
  );
  return reason.includes(`${type?.slice(1, -1)} ${id}`);
}
