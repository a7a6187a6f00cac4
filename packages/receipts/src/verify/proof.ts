import { leafHash } from "../merkle/hash.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import type { TlogProof } from "../proof/tlog-proof.js";
import { parseProof } from "../proof/tlog-proof.js";
import type { CheckpointOptions } from "./checkpoint.js";
import { checkCheckpoint } from "./checkpoint.js";
import type { EntryOptions } from "./entry.js";
import { checkEntry } from "./entry.js";
import type { Verification } from "./result.js";
import { conclude, failed, failedBy, held } from "./result.js";

/** Options of {@link verifyProof}. */
export type ProofOptions = Omit<EntryOptions, "index"> & Omit<CheckpointOptions, "older">;

/** Verifies that an entry has the position in a `.tlog-proof` file, and the entry itself. */
export async function verifyProof(
  proofText: string,
  entry: Uint8Array,
  options: ProofOptions = {},
): Promise<Verification> {
  let proof: TlogProof;
  try {
    proof = parseProof(proofText);
  } catch (error) {
    return conclude([failedBy("proof-format", error)], []);
  }
  const { index } = proof;
  const log = await checkCheckpoint(proof.checkpoint, options);
  const checks = [held("proof-format", `for entry ${index}`, index), ...log.checks];
  if (log.checkpoint !== undefined) {
    const { size, root } = log.checkpoint;
    checks.push(
      verifyInclusion(leafHash(entry), index, size, proof.hashes, root)
        ? held("inclusion", `entry ${index} of ${size}`, index)
        : failed("inclusion", `the entry is not number ${index} of ${size}`, index),
    );
  }
  const inner = await checkEntry(entry, { ...options, index });
  return conclude([...checks, ...inner.checks], [...log.signers, ...inner.signers]);
}
