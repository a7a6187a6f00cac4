import type { JsonValue } from "@countersign/core";
import type { Work } from "../base/work.js";

/** The part of a value that a reader uses: the value, or only how many items a list has. */
export type Reading = "value" | "items";

/** A place of the data that a reader uses. */
export interface Read<Reader> {
  readonly reader: Reader;
  readonly reading: Reading;
  readonly segments: readonly string[];
  /** The last reading there, by {@link tokenOf}. */
  token: unknown;
}

type Node<Reader> = {
  readonly below: Map<string, Node<Reader>>;
  readonly reads: Set<Read<Reader>>;
};

type Written = { isWhole: boolean; readonly below: Map<string, Written> };

/** The paths that were written since the last look at their readers, without those below another. */
export class WrittenPaths {
  root: Written | undefined;

  add(segments: readonly string[]): void {
    let node = (this.root ??= { isWhole: false, below: new Map() });
    for (const segment of segments) {
      if (node.isWhole) return;
      let next = node.below.get(segment);
      if (next === undefined)
        node.below.set(segment, (next = { isWhole: false, below: new Map() }));
      node = next;
    }
    node.isWhole = true;
    node.below.clear();
  }
}

/** The readers of a data model by path, so that writes find those above, at and below their paths. */
export class Readers<Reader> {
  readonly #root: Node<Reader> = createNode();

  add(read: Read<Reader>): void {
    let node = this.#root;
    for (const segment of read.segments) {
      let next = node.below.get(segment);
      if (next === undefined) node.below.set(segment, (next = createNode()));
      node = next;
    }
    node.reads.add(read);
  }

  remove(read: Read<Reader>): void {
    const { segments } = read;
    const passed = [this.#root];
    for (const segment of segments) {
      const next = passed.at(-1)?.below.get(segment);
      if (next === undefined) return;
      passed.push(next);
    }
    passed.at(-1)?.reads.delete(read);
    for (let index = passed.length - 1; index > 0; index -= 1) {
      const last = passed[index];
      if (last === undefined || last.below.size + last.reads.size > 0) return;
      passed[index - 1]?.below.delete(segments[index - 1] ?? "");
    }
  }

  /** Every read of a written path, of something above one, or below one; each once. */
  concerned({ root }: WrittenPaths, work: Work): Read<Reader>[] {
    const found: Read<Reader>[] = [];
    const open: [Node<Reader>, Written | undefined][] =
      root === undefined ? [] : [[this.#root, root]];
    for (let next = open.pop(); next !== undefined && !work.isOver; next = open.pop()) {
      const [node, written] = next;
      work.step(1 + node.reads.size);
      for (const read of node.reads) found.push(read);
      if (written === undefined || written.isWhole) {
        for (const below of node.below.values()) open.push([below, undefined]);
        continue;
      }
      for (const [segment, inner] of written.below) {
        const below = node.below.get(segment);
        if (below !== undefined) open.push([below, inner]);
      }
    }
    return found;
  }

  /** The reads of exactly this path. */
  at(segments: readonly string[]): Iterable<Read<Reader>> {
    let node: Node<Reader> | undefined = this.#root;
    for (const segment of segments) node = node?.below.get(segment);
    return node?.reads ?? [];
  }
}

function createNode<Reader>(): Node<Reader> {
  return { below: new Map(), reads: new Set() };
}

/** The value that is compared before and after writes; a container counts as changed. */
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
