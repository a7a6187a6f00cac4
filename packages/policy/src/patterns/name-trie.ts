type Node = { isPrefix: boolean; next: Map<number, Node> | undefined };

/** A set of names and of prefixes (`toast-*`); a lookup depends on the length of the name only. */
export type NameTrie = { has(name: string): boolean };

const createNode = (): Node => ({ isPrefix: false, next: undefined });

/**
 * Builds the set. A trailing `*` makes a prefix; any other character is literal. Whole names are
 * one lookup. Prefixes are a tree of code units, without a scan over all rules or a substring per
 * candidate length.
 */
export function createNameTrie(names: readonly string[]): NameTrie {
  const whole = new Set(names.filter((name) => !name.endsWith("*")));
  const prefixes = names.filter((name) => name.endsWith("*"));
  if (prefixes.length === 0) return whole;
  const root = createNode();
  for (const prefix of prefixes) insert(root, prefix.slice(0, -1));
  return { has: (name) => whole.has(name) || startsWithAny(root, name) };
}

function startsWithAny(root: Node, name: string): boolean {
  let node = root;
  for (let index = 0; index < name.length; index += 1) {
    if (node.isPrefix) return true;
    const next = node.next?.get(name.charCodeAt(index));
    if (next === undefined) return false;
    node = next;
  }
  return node.isPrefix;
}

function insert(root: Node, prefix: string): void {
  let node = root;
  for (let index = 0; index < prefix.length; index += 1) {
    const code = prefix.charCodeAt(index);
    node.next ??= new Map();
    let next = node.next.get(code);
    if (next === undefined) {
      next = createNode();
      node.next.set(code, next);
    }
    node = next;
  }
  node.isPrefix = true;
}
