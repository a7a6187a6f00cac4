import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { shownAs } from "./functions.js";

/** The parts of a basic component that renderers draw before a person opens anything. */
interface VisibleParts {
  /** Properties whose text is on the screen; `tabs/title` is in each item of a list. */
  readonly labels?: readonly string[];
  /** Properties whose components are on the screen. */
  readonly children?: readonly string[];
  /** Whether the component with these resolved properties is drawn at all. */
  isDrawn?(resolved: JsonObject): boolean;
}

const CHILDREN: VisibleParts = { children: ["children"] };
const LABEL: VisibleParts = { labels: ["label"] };
const TEXT: VisibleParts = { labels: ["text"] };

/**
 * A2UI 0.9 and 1.0. Not on the screen: the content of a modal, and the description of an image or a
 * video. An icon is drawn as a picture, so its name is no text either.
 */
const VISIBLE: ReadonlyMap<string, VisibleParts> = new Map<string, VisibleParts>([
  ["Text", TEXT],
  ["AudioPlayer", { labels: ["description"] }],
  ["Row", CHILDREN],
  ["Column", CHILDREN],
  ["List", CHILDREN],
  ["Card", { children: ["child"] }],
  ["Tabs", { labels: ["tabs/title"], children: ["tabs"] }],
  ["Modal", { children: ["trigger"] }],
  ["Button", { children: ["child"] }],
  ["TextField", LABEL],
  ["CheckBox", LABEL],
  ["ChoicePicker", { labels: ["label", "options/label"] }],
  ["Slider", LABEL],
  [
    "DateTimeInput",
    {
      ...LABEL,
      isDrawn: (resolved) => isSet(resolved, "enableDate") || isSet(resolved, "enableTime"),
    },
  ],
]);

/** A2UI 0.8. A date has no label of its own, and a choice shows one option at a time. */
const VISIBLE_LEGACY: ReadonlyMap<string, VisibleParts> = new Map<string, VisibleParts>([
  ["Text", TEXT],
  ["AudioPlayer", { labels: ["description"], isDrawn: (resolved) => isSet(resolved, "url") }],
  ["Row", CHILDREN],
  ["Column", CHILDREN],
  ["List", CHILDREN],
  ["Card", { children: ["child", "children"] }],
  ["Tabs", { labels: ["tabItems/title"], children: ["tabItems"] }],
  ["Modal", { children: ["entryPointChild"] }],
  ["Button", { children: ["child"] }],
  ["TextField", LABEL],
  ["CheckBox", LABEL],
  ["MultipleChoice", { labels: ["description"] }],
  ["Slider", LABEL],
]);

function visibleParts(type: string, isLegacy: boolean): VisibleParts {
  return (isLegacy ? VISIBLE_LEGACY : VISIBLE).get(type) ?? {};
}

/** The children of a component of the basic catalogue that are on the screen. */
export class VisibleChildren {
  readonly #names: ReadonlySet<string>;

  constructor(type: string, props: JsonObject, isLegacy: boolean) {
    const names = new Set(visibleParts(type, isLegacy).children);
    // Renderers of 0.8 draw one of the two.
    if (type === "Card" && isLegacy && Object.hasOwn(props, "children")) names.delete("child");
    this.#names = names;
  }

  /** Whether the components of a property are drawn; of tabs only those of the first one. */
  has(property: string, item: number | undefined, inner: string | undefined): boolean {
    if (!this.#names.has(property)) return false;
    if (property !== "tabs" && property !== "tabItems") return true;
    return item === 0 && inner === "child";
  }
}

/** The texts of a component of the basic catalogue that are on the screen. */
export function visibleTexts(type: string, resolved: JsonObject, isLegacy: boolean): string[] {
  const { labels = [], isDrawn } = visibleParts(type, isLegacy);
  if (isDrawn?.(resolved) === false) return [];
  return textsAt(labels, resolved, visibleText);
}

/** The texts at paths such as `label` and `options/label`, in order; without empty ones. */
export function textsAt(
  paths: readonly string[],
  resolved: JsonObject,
  show: (value: JsonValue | undefined) => string,
): string[] {
  const texts: string[] = [];
  for (const path of paths) {
    const [outer = "", inner] = path.split("/");
    const value = Object.hasOwn(resolved, outer) ? resolved[outer] : undefined;
    if (inner === undefined) texts.push(show(value));
    else if (Array.isArray(value)) {
      for (const item of value) if (isJsonObject(item)) texts.push(show(item[inner]));
    }
  }
  return texts.filter((text) => text !== "");
}

/** Renderers draw the words of an object nowhere. */
function visibleText(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return value.map((item) => visibleText(item)).join();
  return typeof value === "object" ? "" : shownAs(value);
}

function isSet(resolved: JsonObject, key: string): boolean {
  return Object.hasOwn(resolved, key) && Boolean(resolved[key]);
}
