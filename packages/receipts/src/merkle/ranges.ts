/** Leaves `start` up to, not including, `end`. */
export type LeafRange = { readonly start: number; readonly end: number };

/** Largest power of two smaller than `size` (RFC 6962 section 2.1); `size` is at least 2. */
export function splitPoint(size: number): number {
  // Sizes may pass 2^32, so arithmetic instead of bit operations.
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The subtrees whose roots form the inclusion proof of a leaf, from its sibling up. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new TypeError("the leaf index lies outside the tree");
  }
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  return ranges.toReversed();
}

/** The subtrees whose roots prove that the tree of `oldSize` leaves is a prefix of `newSize`. */
export function consistencyRanges(oldSize: number, newSize: number): LeafRange[] {
  if (!Number.isSafeInteger(oldSize) || !Number.isSafeInteger(newSize) || oldSize < 0) {
    throw new TypeError("tree sizes are non-negative safe integers");
  }
  if (oldSize > newSize) throw new TypeError("the older tree is larger than the newer one");
  if (oldSize === 0 || oldSize === newSize) return [];
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = newSize;
  while (oldSize !== end) {
    const middle = start + splitPoint(end - start);
    if (oldSize <= middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  // The old tree itself is omitted when it is one perfect subtree: the verifier has its root.
  if (start > 0) ranges.push({ start, end });
  return ranges.toReversed();
}
