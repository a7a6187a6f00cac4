import { measure } from "../a2ui/data-model.js";
import { createDefinition } from "../a2ui/definition.js";
import type { Definition } from "../a2ui/definition.js";
import type { ComponentUpdate } from "../a2ui/operations.js";
import type { A2uiSurface } from "../a2ui/surface.js";
import type { SurfaceLimits, SurfaceProblemCode } from "../base/facts.js";
import { named } from "../base/problems.js";
import type { Problems } from "../base/problems.js";

/** The definition that an update of a component makes on its surface; undefined with a problem. */
export function readDefinition(
  component: ComponentUpdate,
  surface: A2uiSurface,
  place: string,
  limits: SurfaceLimits,
  problems: Problems,
): Definition | undefined {
  const { surfaceId, isLegacy, settings, definitions } = surface;
  const { id, props, catalogueId } = component;
  const refuse = (code: SurfaceProblemCode, sentence: string): undefined => {
    problems.add(code, true, surfaceId, place, sentence);
  };
  const before = definitions.get(id);
  const type = component.type ?? before?.type;
  if (type === undefined) {
    return refuse(
      "surface/missing-type",
      "The component has no type. Fix: send its type in component.",
    );
  }
  if (before !== undefined && before.type !== type) {
    const sentence = `The component was ${named(before.type)} and becomes ${named(type)}.`;
    problems.add("surface/changed-type", false, surfaceId, place, sentence);
  }
  if (
    (before === undefined && definitions.size >= limits.maxComponents) ||
    measure(props).values > limits.maxPropertyValues ||
    surface.length > limits.maxModelLength
  ) {
    return refuse(
      "surface/over-limit",
      "The surface has more components, a component more values, or both more characters than allowed. Fix: send a smaller surface, or raise the limit.",
    );
  }
  try {
    const other = catalogueId === settings.catalogueId ? undefined : catalogueId;
    return createDefinition(id, type, props, other, isLegacy);
  } catch {
    return refuse(
      "surface/malformed-operation",
      "The properties of the component have no canonical JSON.",
    );
  }
}
