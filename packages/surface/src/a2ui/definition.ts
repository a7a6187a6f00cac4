import { canonicalJson, isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { basicComponent, isKnownProperty } from "./basic-catalogue.js";
import type { ComponentTable } from "./basic-catalogue.js";

/** A reference to a child: a component, or a template with the data path of its list. */
export interface ChildReference {
  readonly id: string;
  /** Data path of the list, relative to the parent's scope; undefined for a plain child. */
  readonly list: string | undefined;
  /** False: some text of an unknown component, which is a child if a component has it as id. */
  readonly isCertain: boolean;
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
  if (table !== undefined && !isLegacy) {
    for (const property of table.children ?? []) collect(props, property, references);
    for (const [key, value] of Object.entries(props)) {
      if (!isKnownProperty(table, key)) assume(key, value, references);
    }
  } else {
    for (const [key, value] of Object.entries(props)) assume(key, value, references);
  }
  const text = canonicalJson([type, catalogueId ?? null, props]);
  return { id, type, props, catalogueId, table, references, text };
}

/** The children that a property of the basic catalogue names. */
function collect(props: JsonObject, property: string, into: ChildReference[]): void {
  const [outer = "", inner] = property.split("/");
  const value = Object.hasOwn(props, outer) ? props[outer] : undefined;
  if (inner !== undefined) {
    for (const item of Array.isArray(value) ? value : []) {
      if (isJsonObject(item)) collect(item, inner, into);
    }
    return;
  }
  if (typeof value === "string") add(value, undefined, true, into);
  else if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "string") add(item, undefined, true, into);
      else if (isJsonObject(item) && typeof item["componentId"] === "string") {
        add(item["componentId"], undefined, true, into);
      }
    }
  } else if (value !== undefined) template(value, into);
}

/** Every text that may be the id of a child, and every template. */
function assume(key: string, value: JsonValue, into: ChildReference[]): void {
  if (key === "action") return;
  if (typeof value === "string") {
    if (value.length <= MAX_ID_LENGTH) add(value, undefined, false, into);
  } else if (Array.isArray(value)) {
    for (const item of value) assume("", item, into);
  } else if (isJsonObject(value) && !template(value, into)) {
    for (const [inner, item] of Object.entries(value)) assume(inner, item, into);
  }
}

function template(value: JsonValue, into: ChildReference[]): boolean {
  if (!isJsonObject(value)) return false;
  const { componentId, path } = value;
  if (typeof componentId !== "string" || typeof path !== "string" || path === "") return false;
  add(componentId, path, true, into);
  return true;
}

function add(
  id: string,
  list: string | undefined,
  isCertain: boolean,
  into: ChildReference[],
): void {
  if (id !== "") into.push({ id, list, isCertain });
}
