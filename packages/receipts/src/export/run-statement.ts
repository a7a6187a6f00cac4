import { encodeHex } from "@countersign/core";
import { keyThumbprintHex } from "../cose/cose-key.js";
import { signEnvelope } from "../dsse/envelope.js";
import { encodeRunStatement, IN_TOTO_PAYLOAD_TYPE } from "../dsse/run-statement.js";
import type { RunFacts, RunName } from "../dsse/run-summary.js";
import { createRunSummary } from "../dsse/run-summary.js";
import { leafHash } from "../merkle/hash.js";
import { proveInclusion } from "../merkle/prove.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import type { SignedTreeSource } from "./signed-tree.js";
import { mismatch, openSignedTree } from "./signed-tree.js";
import type { NumberedEntry } from "./write-statements.js";

/**
 * Signs a DSSE envelope about one run with the log's key: an in-toto statement over the hash of its
 * entries. `first` is the first entry that the log still has, `entries` are those of the run in ascending order; each must be in the tree of the checkpoint.
 * Undefined when the tree has no entry of the run.
 */
export async function signRunStatement(
  source: SignedTreeSource & { readonly first: number },
  run: RunName,
  entries: AsyncIterable<NumberedEntry> | Iterable<NumberedEntry>,
): Promise<
  { readonly envelope: string; readonly facts: RunFacts; readonly size: number } | undefined
> {
  const { origin, size, root, read } = await openSignedTree(source);
  const summary = createRunSummary(run, { first: source.first, size });
  for await (const { seq, bytes } of entries) {
    if (seq >= size) continue;
    const path = await proveInclusion(seq, size, read);
    if (!verifyInclusion(leafHash(bytes), seq, size, path, root)) {
      throw mismatch(size, `entry ${seq} is not in the tree`);
    }
    summary.add(bytes);
  }
  const facts = summary.facts();
  if (facts === undefined) return undefined;
  const payload = encodeRunStatement({
    ...facts,
    log: origin,
    run,
    tree: { first: source.first, size, root: encodeHex(root) },
  });
  const keyId = keyThumbprintHex(source.log.publicKey);
  return {
    envelope: await signEnvelope(IN_TOTO_PAYLOAD_TYPE, payload, keyId, source.log),
    facts,
    size,
  };
}
