import { hashBytes, joinHashes, latin1HashAt } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { Frontier } from "../merkle/tree.js";
import type { SignedGroup } from "../sign/group.js";
import { NODE_BYTES } from "../sign/subtrees.js";
import type { AppendBatch, TileHash } from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { MutableFrontier } from "./mutable-frontier.js";
import type { LogSeal } from "./seal.js";

const TILE_HEIGHT = 8;

/**
 * Appends signed groups to a head. Their entries have the right numbers and their subtrees are
 * hashed already, which leaves about one hash per ten entries to the event loop.
 */
export function grow(
  head: Frontier,
  groups: readonly SignedGroup[],
  drafts: AppendBatch["drafts"],
  seal?: LogSeal,
): AppendBatch {
  const stack = [...MutableFrontier.from(head).stack];
  const above: TileHash[] = [];
  const bundleStarts: number[] = [];
  let seq = head.size;
  let bytes = 0;
  for (const { first, nodes, places, records } of groups) {
    if (first !== seq) throw new TypeError("a group was numbered for another head");
    const count = places.length / 2;
    const toBundle = (TILE_WIDTH - (seq % TILE_WIDTH)) % TILE_WIDTH;
    for (let index = toBundle; index < count; index += TILE_WIDTH) {
      bundleStarts.push(bytes + (index === 0 ? 0 : (places[index * 2 - 1] as number)));
    }
    bytes += records.length;
    addSubtrees(Buffer.from(nodes.buffer, nodes.byteOffset, nodes.length), seq, stack, above);
    seq += count;
  }
  const frontier = new MutableFrontier(seq, stack);
  const sealed = seal === undefined ? undefined : frontier.root();
  if (sealed !== undefined) frontier.seal = seal?.of(seq, sealed);
  return {
    count: seq - head.size,
    records: groups.map((one) => one.records),
    leaves: groups.map((one) => one.leaves),
    bundleStarts,
    above,
    frontier,
    root: () => sealed ?? frontier.root(),
    drafts,
  };
}

function addSubtrees(nodes: Buffer, first: number, stack: Latin1Hash[], above: TileHash[]): void {
  let leaf = first;
  for (let at = 0; at < nodes.length; at += NODE_BYTES) {
    let height = nodes[at] as number;
    const width = 2 ** height;
    let carry = latin1HashAt(nodes, at + 1);
    let index = leaf / width;
    if (height === TILE_HEIGHT) above.push(tileHash(height, index, carry));
    while (index % 2 === 1) {
      carry = joinHashes(stack.pop() as Latin1Hash, carry);
      height += 1;
      index = (index - 1) / 2;
      if (height % TILE_HEIGHT === 0) above.push(tileHash(height, index, carry));
    }
    stack.push(carry);
    leaf += width;
  }
}

// A subtree of 256^level leaves is one hash of that tile level.
function tileHash(height: number, index: number, hash: Latin1Hash): TileHash {
  return { level: height / TILE_HEIGHT, index, hash: hashBytes(hash) };
}
