import { hkdfSync } from "node:crypto";
import { readdirSync } from "node:fs";
import { encodeHex } from "@countersign/core";
import { findSecretKey, openSecretKey } from "./secret-key.js";

/** The name of the key that new evidence is encrypted with. */
export const EVIDENCE_KEY = "evidence";

const FILE = /^(evidence(?:-.+)?)\.key$/u;
const ID_BYTES = 8;

/** A secret of the evidence store. */
export type EvidenceKey = {
  /** Its name in the store, derived from the secret. */
  readonly id: string;
  readonly secret: Uint8Array;
};

/** The keys of a directory: the one in use, and retired ones (`evidence-NAME.key`) that older copies need. */
export type EvidenceKeys = {
  /** `undefined` if the directory has none. */
  readonly current: EvidenceKey | undefined;
  readonly all: readonly EvidenceKey[];
};

/** Reads the evidence keys of a directory; creates none. */
export function findEvidenceKeys(directory: string): EvidenceKeys {
  const all = namesIn(directory).flatMap((name) => {
    const secret = findSecretKey(directory, name);
    return secret === undefined ? [] : [{ name, id: idOf(secret), secret }];
  });
  return { current: all.find(({ name }) => name === EVIDENCE_KEY), all };
}

/** Reads the evidence keys, and creates the one in use if there is none. */
export async function openEvidenceKeys(
  directory: string,
): Promise<EvidenceKeys & { readonly current: EvidenceKey }> {
  const secret = await openSecretKey(directory, EVIDENCE_KEY);
  return { current: { id: idOf(secret), secret }, all: findEvidenceKeys(directory).all };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}

function idOf(secret: Uint8Array): string {
  return encodeHex(
    new Uint8Array(hkdfSync("sha256", secret, "", "countersign.evidence-id.v1", ID_BYTES)),
  );
}
