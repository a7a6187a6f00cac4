import { canonicalJson, isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { basicComponent, isKnownProperty } from "./basic-catalogue.js";
import type { ComponentTable } from "./basic-catalogue.js";
import { VisibleChildren } from "./visible-parts.js";

/** A reference to a child: a component, or a template with the data path of its list. */
export interface ChildReference {
  readonly id: string;
  /** Data path of the list, relative to the parent's scope; undefined for a plain child. */
  readonly list: string | undefined;
  /** False: some text of an unknown component, which is a child if a component has it as id. */
  readonly isCertain: boolean;
  /** False: renderers draw it only after a person opened something, or never. */
  readonly isVisible: boolean;
}

/** A component as the agent defined it. */
export interface Definition {
  readonly id: string;
  readonly type: string;
  readonly props: JsonObject;
  readonly catalogueId: string | undefined;
  /** Its table in the basic catalogue, if that is where it comes from. */
  readonly table: ComponentTable | undefined;
  readonly references: readonly ChildReference[];
  /** Canonical JSON of type, catalogue and properties: equal texts are drawn alike. */
  readonly text: string;
}

/** Longer texts are not read as ids. */
const MAX_ID_LENGTH = 256;

/**
 * Makes a definition of checked parts.
 *
 * @param isLegacy A2UI 0.8, whose renderers take any text that is the id of a component as child
 * @throws CountersignError when the properties have no canonical JSON
 */
export function createDefinition(
  id: string,
  type: string,
  props: JsonObject,
  catalogueId: string | undefined,
  isLegacy: boolean,
): Definition {
  const table = catalogueId === undefined ? basicComponent(type) : undefined;
  const references: ChildReference[] = [];
  const visible = table && new VisibleChildren(type, props, isLegacy);
  const isVisible = (property: string, item?: number, inner?: string): boolean =>
    visible?.has(property, item, inner) ?? true;
  if (table !== undefined && !isLegacy) {
    for (const property of table.children ?? []) collect(props, property, references, isVisible);
    for (const [key, value] of Object.entries(props)) {
      if (!isKnownProperty(table, key)) assume(key, value, references, false);
    }
  } else {
    for (const [key, value] of Object.entries(props))
      assumeProperty(key, value, references, isVisible);
  }
  const text = canonicalJson([type, catalogueId ?? null, props]);
  return { id, type, props, catalogueId, table, references, text };
}

type IsVisible = (property: string, item?: number, inner?: string) => boolean;

/** The children that a property of the basic catalogue names. */
function collect(
  props: JsonObject,
  property: string,
  into: ChildReference[],
  isVisible: IsVisible,
): void {
  const [outer = "", inner] = property.split("/");
  const value = Object.hasOwn(props, outer) ? props[outer] : undefined;
  if (inner === undefined) {
    collectValue(value, into, isVisible(outer));
    return;
  }
  for (const [index, item] of Array.isArray(value) ? value.entries() : []) {
    if (!isJsonObject(item) || !Object.hasOwn(item, inner)) continue;
    collectValue(item[inner], into, isVisible(outer, index, inner));
  }
}

function collectValue(
  value: JsonValue | undefined,
  into: ChildReference[],
  isVisible: boolean,
): void {
  const certain = { list: undefined, isCertain: true, isVisible };
  if (typeof value === "string") add({ id: value, ...certain }, into);
  else if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "string") add({ id: item, ...certain }, into);
      else if (isJsonObject(item) && typeof item["componentId"] === "string") {
        add({ id: item["componentId"], ...certain }, into);
      }
    }
  } else if (value !== undefined) template(value, into, isVisible);
}

/** The possible children in a property; those in items of a list are told apart. */
function assumeProperty(
  key: string,
  value: JsonValue,
  into: ChildReference[],
  isVisible: IsVisible,
): void {
  if (!Array.isArray(value) || key === "action") {
    assume(key, value, into, isVisible(key));
    return;
  }
  for (const [index, item] of value.entries()) {
    if (!isJsonObject(item)) assume("", item, into, isVisible(key, index));
    else if (!template(item, into, isVisible(key, index))) {
      for (const [inner, one] of Object.entries(item)) {
        assume(inner, one, into, isVisible(key, index, inner));
      }
    }
  }
}

/** Every text that may be the id of a child, and every template. */
function assume(key: string, value: JsonValue, into: ChildReference[], isVisible: boolean): void {
  if (key === "action") return;
  if (typeof value === "string") {
    if (value.length > MAX_ID_LENGTH) return;
    add({ id: value, list: undefined, isCertain: false, isVisible }, into);
  } else if (Array.isArray(value)) {
    for (const item of value) assume("", item, into, isVisible);
  } else if (isJsonObject(value) && !template(value, into, isVisible)) {
    for (const [inner, item] of Object.entries(value)) assume(inner, item, into, isVisible);
  }
}

function template(value: JsonValue, into: ChildReference[], isVisible: boolean): boolean {
  if (!isJsonObject(value)) return false;
  const { componentId, path } = value;
  if (typeof componentId !== "string" || typeof path !== "string" || path === "") return false;
  add({ id: componentId, list: path, isCertain: true, isVisible }, into);
  return true;
}

function add(reference: ChildReference, into: ChildReference[]): void {
  if (reference.id !== "") into.push(reference);
}
