import { canonicalJson, sha256Hex } from "@countersign/core";
import type { Classification } from "@countersign/core";
import type { SurfaceComponent, SurfaceLimits } from "../base/facts.js";
import { named } from "../base/problems.js";
import type { Problems } from "../base/problems.js";
import type { Work } from "../base/work.js";
import { hasAllChildren, isActing } from "./instance.js";
import type { Instance } from "./instance.js";
import type { OwnFacts } from "./read-component.js";

/** The surface that a drawn component is on. */
export interface SurfacePlace {
  readonly surfaceId: string;
  readonly sourceId: string;
  readonly catalogueId: string | undefined;
}

/** The facts of a drawn component with the label of its subtree. */
export function describeInstance(
  instance: Instance,
  surface: SurfacePlace,
  limits: SurfaceLimits,
  problems: Problems,
  work: Work,
): SurfaceComponent {
  const { definition, own, scope } = instance;
  const { surfaceId, sourceId } = surface;
  const componentId = `${surfaceId}/${definition.id}`;
  const subtree = readSubtree(instance, limits, work);
  if (subtree.isOverLimit) {
    problems.add(
      "surface/over-limit",
      true,
      surfaceId,
      componentId,
      "The label of a component is read from more components or characters than allowed. Fix: make the button smaller, or raise maxLabelComponents.",
    );
  }
  if (definition.catalogueId !== undefined && definition.catalogueId !== surface.catalogueId) {
    problems.add(
      "surface/catalogue-override",
      false,
      surfaceId,
      componentId,
      `The component comes from the catalogue ${named(definition.catalogueId)}, not from the one of its surface.`,
    );
  }
  if (definition.table === undefined) {
    problems.add(
      "surface/assumed-component",
      false,
      surfaceId,
      `${surfaceId} ${definition.type}`,
      `The component ${named(definition.type)} is not in the basic catalogue, so every text of it is taken as shown.`,
    );
  }
  const componentType = `a2ui:${definition.type}`;
  // Rules look for words in labels, which costs more than to hash a text.
  const { label, visibleLabel } = subtree;
  const read = label.length + (visibleLabel === label ? 0 : visibleLabel.length);
  const labels = isActing(instance) ? read * 16 : 0;
  instance.cost = subtree.form.length + labels;
  return {
    componentType,
    componentId,
    surfaceId,
    sourceId,
    id: definition.id,
    scope,
    kind: "a2ui",
    classification: classify(definition.type, own, instance.described !== undefined),
    catalogueId: definition.catalogueId,
    props: Object.keys(definition.props).toSorted(),
    resolved: own.resolved,
    label,
    visibleLabel,
    isLabelExact: subtree.isExact,
    accessibilityLabel: own.accessibilityLabel,
    actions: own.actions,
    functionCalls: own.functionCalls,
    urls: own.urls,
    inputs: own.inputs,
    texts: own.texts,
    subtreeHash: sha256Hex(
      `${canonicalJson([componentType, componentId, scope, definition.catalogueId ?? null])}\n${subtree.form}`,
    ),
  };
}

function classify(type: string, own: OwnFacts, isKnown: boolean): Classification {
  if (own.inputs.length > 0 || own.actions.some(({ kind }) => kind === "event")) return "submit";
  if (own.functionCalls.some(({ name }) => name === "openUrl")) return "navigate";
  if (own.actions.length > 0) return "submit";
  if (type === "Modal") return "alert";
  return isKnown ? "mutate" : "create";
}

const PARTLY_SHOWN: ReadonlySet<string> = new Set(["Modal", "Tabs"]);

interface Subtree {
  readonly label: string;
  readonly visibleLabel: string;
  readonly isExact: boolean;
  readonly isOverLimit: boolean;
  /** The parts that the hash covers. */
  readonly form: string;
}

/** Of a component that a person acts on everything below it, of others only itself. */
function readSubtree(instance: Instance, limits: SurfaceLimits, work: Work): Subtree {
  const isWhole = isActing(instance);
  const labels: string[] = [];
  const visibleLabels: string[] = [];
  const forms: string[] = [];
  let length = 0;
  let count = 0;
  let isExact = true;
  const result = (isOverLimit: boolean): Subtree => ({
    label: labels.join(" "),
    visibleLabel: visibleLabels.join(" "),
    isExact: isExact && !isOverLimit,
    isOverLimit,
    form: forms.join("\n"),
  });
  const open = [{ instance, isVisible: true }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count += 1;
    work.step();
    if (count > limits.maxLabelComponents || length > limits.maxTextLength) return result(true);
    const { instance: part, isVisible } = next;
    const { own, definition } = part;
    // A part of it is not on the screen.
    if (isWhole && PARTLY_SHOWN.has(definition.type)) isExact = false;
    labels.push(...own.labels);
    if (isVisible) visibleLabels.push(...own.visibleLabels);
    for (const label of own.labels) length += label.length + 1;
    isExact &&= own.isLabelExact && hasAllChildren(part);
    part.form ??= formOf(part);
    forms.push(part.form);
    if (!isWhole) break;
    for (let slot = part.slots.length - 1; slot >= 0; slot -= 1) {
      const isDrawn = isVisible && part.references[slot]?.isVisible === true;
      for (const child of (part.slots[slot] ?? []).toReversed()) {
        open.push({ instance: child, isVisible: isDrawn });
      }
    }
  }
  return result(false);
}

/** The text and the actions of a component by itself, as one line. */
function formOf({ own, definition }: Instance): string {
  return canonicalJson([
    definition.type,
    own.resolved,
    own.actions.map(({ name, context }) => [name, context]),
    own.urls.map(({ value, use }) => [use, value]),
  ]);
}
