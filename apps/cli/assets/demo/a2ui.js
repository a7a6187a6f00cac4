// Draws cards of A2UI 0.9: five components with literal text. Whatever else an agent sends is drawn as nothing.
import { element } from "./element.js";

const MAX_DEPTH = 12;
const MAX_DRAWN = 100;

const listOf = (value) => (Array.isArray(value) ? value : []);
const stringOf = (value) => (typeof value === "string" ? value : "");

/** The surfaces of an activity, each with its components by id. */
function readSurfaces(content) {
  const surfaces = new Map();
  for (const operation of listOf(content?.a2ui_operations)) {
    const { createSurface, updateComponents, deleteSurface } = Object(operation);
    if (createSurface) surfaces.set(stringOf(createSurface.surfaceId), new Map());
    if (deleteSurface) surfaces.delete(deleteSurface.surfaceId);
    const components = surfaces.get(updateComponents?.surfaceId);
    for (const component of listOf(updateComponents?.components)) {
      if (typeof component?.id === "string") components?.set(component.id, component);
    }
  }
  return surfaces;
}

/** A button as a person reads it, and what the agent gets when it is pressed. */
function buttonOf(surfaceId, components, { id, child, action }) {
  const { name, context = {} } = Object(action?.event);
  return {
    label: stringOf(components.get(child)?.text),
    click: { name: stringOf(name), surfaceId, sourceComponentId: id, context },
  };
}

/** The buttons of an activity. */
export function buttonsIn(content) {
  return [...readSurfaces(content)].flatMap(([surfaceId, components]) =>
    [...components.values()]
      .filter(({ component }) => component === "Button")
      .map((button) => buttonOf(surfaceId, components, button)),
  );
}

/**
 * Draws an activity.
 *
 * @param onPress is called with the label of a button and with the click that the agent gets
 * @returns the element, or nothing where the activity has no component that is known here
 */
export function drawActivity(content, onPress) {
  let drawn = 0;

  function drawSurface([surfaceId, components]) {
    const drawAll = (ids, depth) => listOf(ids).flatMap((id) => draw(id, depth + 1));
    const kinds = new Map([
      ["Card", ({ child }, depth) => element("div", { class: "card" }, draw(child, depth + 1))],
      [
        "Column",
        ({ children }, depth) => element("div", { class: "column" }, drawAll(children, depth)),
      ],
      ["Row", ({ children }, depth) => element("div", { class: "row" }, drawAll(children, depth))],
      [
        "Text",
        (text) =>
          element("span", {
            class: /^h[1-5]$/u.test(stringOf(text.variant)) ? "heading" : "text",
            text: stringOf(text.text),
          }),
      ],
      [
        "Button",
        (component) => {
          const { label, click } = buttonOf(surfaceId, components, component);
          return element("button", {
            type: "button",
            class: component.variant === "primary" ? "primary" : "",
            text: label,
            on: { click: () => onPress(label, click) },
          });
        },
      ],
    ]);
    /** A component with its children; a circle of components ends at a depth. */
    function draw(id, depth) {
      const component = components.get(id);
      const kind = kinds.get(component?.component);
      if (kind === undefined || depth > MAX_DEPTH || drawn >= MAX_DRAWN) return [];
      drawn += 1;
      return [kind(component, depth)];
    }
    return draw("root", 0);
  }

  const surfaces = [...readSurfaces(content)].flatMap(drawSurface);
  if (surfaces.length === 0) return undefined;
  return element(
    "div",
    { class: "message drawn", role: "group", "aria-label": "Card of the agent" },
    surfaces,
  );
}
