type Node = { end: boolean; prefix: boolean; next: Map<number, Node> | undefined };

/** A set of names and of prefixes (`toast-*`), asked in time that depends on the name alone. */
export type NameTrie = { has(name: string): boolean };

const createNode = (): Node => ({ end: false, prefix: false, next: undefined });

/**
 * Builds the set. A trailing `*` makes a prefix; any other character is itself.
 *
 * A tree of code units instead of a `Set`, so that prefixes need neither a scan over all rules nor a
 * substring per candidate length.
 */
export function createNameTrie(names: readonly string[]): NameTrie {
  const root = createNode();
  for (const name of names) insert(root, name);
  return {
    has(name) {
      let node: Node = root;
      for (let index = 0; index < name.length; index += 1) {
        if (node.prefix) return true;
        const next: Node | undefined = node.next?.get(name.charCodeAt(index));
        if (next === undefined) return false;
        node = next;
      }
      return node.end || node.prefix;
    },
  };
}

function insert(root: Node, name: string): void {
  const prefix = name.endsWith("*");
  const length = prefix ? name.length - 1 : name.length;
  let node = root;
  for (let index = 0; index < length; index += 1) {
    const code = name.charCodeAt(index);
    node.next ??= new Map();
    let next = node.next.get(code);
    if (next === undefined) {
      next = createNode();
      node.next.set(code, next);
    }
    node = next;
  }
  if (prefix) node.prefix = true;
  else node.end = true;
}
