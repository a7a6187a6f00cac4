import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** Steps from the root of a document to a value. */
export type Path = readonly (string | number)[];

/** A place in a text, counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/** YAML that the format forbids (V-020): an anchor, an alias, a merge key or a custom tag. */
export type YamlViolation = { readonly path: Path; readonly message: string } & Position;

/** The source text of a document. */
export type Source = {
  readonly violations: readonly YamlViolation[];
  /** The position of the value at a path; for a missing one, its nearest ancestor's. */
  positionOf(path: Path): Position;
};

/** The positions of each container's children in the text. */
export type ChildOffsets = WeakMap<object, Map<string | number, number>>;

/** Builds the {@link Source} of one text. */
export function createSource(
  root: JsonValue,
  offsets: ChildOffsets,
  place: (offset: number) => Position,
  violations: readonly YamlViolation[],
): Source {
  return {
    violations,
    positionOf(path) {
      let at: JsonValue | undefined = root;
      let offset = 0;
      for (const step of path) {
        if (typeof at !== "object" || at === null) break;
        const found = offsets.get(at)?.get(step);
        if (found === undefined) break;
        offset = found;
        if (Array.isArray(at)) at = typeof step === "number" ? at[step] : undefined;
        else at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
      }
      return place(offset);
    },
  };
}

/** `attack.indicators[0].target` for a path. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

const sources = new WeakMap<object, Source>();

/** Remembers where a document came from, beside it and not inside it. */
export function attachSource(document: object, source: Source): void {
  sources.set(document, source);
}

/** The source of a document; `undefined` for one that a program built. */
export function sourceOf(document: object): Source | undefined {
  return sources.get(document);
}
