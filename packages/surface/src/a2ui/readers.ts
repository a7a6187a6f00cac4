import type { JsonValue } from "@countersign/core";

/** The part of a value that a reader uses: the value, or only how many items a list has. */
export type Reading = "value" | "items";

type Node<Reader> = {
  readonly below: Map<string, Node<Reader>>;
  readonly values: Set<Reader>;
  readonly items: Set<Reader>;
};

/** A reader that a write may concern, with the place that it reads. */
export interface Concerned<Reader> {
  readonly reader: Reader;
  readonly reading: Reading;
  readonly segments: readonly string[];
}

/** The readers of a data model by path, so that a write finds those above, at and below its path. */
export class Readers<Reader> {
  readonly #root: Node<Reader> = createNode();

  add(segments: readonly string[], reading: Reading, reader: Reader): void {
    let node = this.#root;
    for (const segment of segments) {
      let next = node.below.get(segment);
      if (next === undefined) node.below.set(segment, (next = createNode()));
      node = next;
    }
    (reading === "value" ? node.values : node.items).add(reader);
  }

  remove(segments: readonly string[], reading: Reading, reader: Reader): void {
    const passed = [this.#root];
    for (const segment of segments) {
      const next = passed.at(-1)?.below.get(segment);
      if (next === undefined) return;
      passed.push(next);
    }
    const node = passed.at(-1);
    (reading === "value" ? node?.values : node?.items)?.delete(reader);
    for (let index = passed.length - 1; index > 0; index -= 1) {
      const last = passed[index];
      if (last === undefined || last.below.size + last.values.size + last.items.size > 0) return;
      passed[index - 1]?.below.delete(segments[index - 1] ?? "");
    }
  }

  /** Everything that reads the path itself, something above it, or something below it. */
  concerned(segments: readonly string[]): Concerned<Reader>[] {
    const found: Concerned<Reader>[] = [];
    const take = (node: Node<Reader>, at: readonly string[]): void => {
      for (const reader of node.values) found.push({ reader, reading: "value", segments: at });
      for (const reader of node.items) found.push({ reader, reading: "items", segments: at });
    };
    let node: Node<Reader> | undefined = this.#root;
    for (const [index, segment] of segments.entries()) {
      take(node, segments.slice(0, index));
      node = node.below.get(segment);
      if (node === undefined) return found;
    }
    const open: [Node<Reader>, readonly string[]][] = [[node, segments]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [current, at] = next;
      take(current, at);
      for (const [segment, below] of current.below) open.push([below, [...at, segment]]);
    }
    return found;
  }

  /** The readers of exactly this path. */
  at(segments: readonly string[]): Iterable<Reader> {
    let node: Node<Reader> | undefined = this.#root;
    for (const segment of segments) node = node?.below.get(segment);
    return node?.values ?? [];
  }
}

function createNode<Reader>(): Node<Reader> {
  return { below: new Map(), values: new Set(), items: new Set() };
}

/** The value that is compared before and after a write; a container counts as changed. */
export function tokenOf(value: JsonValue | undefined, reading: Reading): unknown {
  if (reading === "items") {
    return Array.isArray(value) ? value.length : value === undefined ? undefined : itemKeys(value);
  }
  return typeof value === "object" && value !== null ? Symbol("changed") : value;
}

/** The names that a template is drawn for: indexes, or in 0.8 the keys of an object. */
function itemKeys(value: JsonValue): string {
  return typeof value === "object" && value !== null ? Object.keys(value).join("\n") : "";
}
