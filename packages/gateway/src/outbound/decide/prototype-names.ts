import type { JsonValue } from "@countersign/core";
import { splitPointer } from "@countersign/policy";
import type { AgUiEvent, JsonPatch } from "@countersign/wire";

/**
 * Whether an event has a member that reaches a prototype: `__proto__` anywhere, or `prototype` within `constructor`, in a path or at any
 * depth of a value.
 *
 * As an own member it is harmless; merged into another object it changes what every object inherits.
 */
export function namesPrototype(event: AgUiEvent): boolean {
  switch (event.type) {
    case "STATE_SNAPSHOT":
      return isNamedIn(event.snapshot, "");
    case "STATE_DELTA":
      return isNamedInPatch(event.delta);
    case "ACTIVITY_SNAPSHOT":
      return isNamedIn(event.content, "");
    case "ACTIVITY_DELTA":
      return isNamedInPatch(event.patch);
    case "CUSTOM":
      return isNamedIn(event.value, "");
    default:
      return false;
  }
}

function isNamedInPatch(patch: JsonPatch): boolean {
  return patch.some((operation) => {
    const path = splitPointer(operation.path);
    if (isNamedOnPath(path)) return true;
    const last = path.at(-1) ?? "";
    if (!("from" in operation)) return "value" in operation && isNamedIn(operation.value, last);
    // The moved value may have a member `prototype`, which is harmless until it is moved under this name.
    return last === "constructor" || isNamedOnPath(splitPointer(operation.from));
  });
}

function isNamedOnPath(path: readonly string[]): boolean {
  return path.some((name, at) => isReaching(name, path[at - 1] ?? ""));
}

function isNamedIn(value: JsonValue, under: string): boolean {
  if (value === null || typeof value !== "object") return false;
  if (Array.isArray(value)) return value.some((item) => isNamedIn(item, ""));
  for (const name of Object.keys(value)) {
    if (isReaching(name, under) || isNamedIn(value[name] as JsonValue, name)) return true;
  }
  return false;
}

function isReaching(name: string, under: string): boolean {
  return name === "__proto__" || (name === "prototype" && under === "constructor");
}
