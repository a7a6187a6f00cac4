import type { PlainParts } from "../entry/plain-parts.js";
import { parseKeyText } from "../keys/key-text.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { latin1Hash } from "../merkle/latin1-hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { BatchPaths } from "./batch-paths.js";

type Signer = { readonly text: string; readonly bytes: Uint8Array; readonly period: KeyPeriod };
type Single = {
  readonly key: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
};

const SIGNATURE_BYTES = 64;
const MEMBER = ',"signature":""'.length;
const SINGLE = "ed25519:".length + 2 * SIGNATURE_BYTES;
const LEAF_PREFIX = 0;
/** Reused for every bundle: bundles are verified one after the other. */
const signatures = Array.from({ length: TILE_WIDTH }, () => Buffer.alloc(SIGNATURE_BYTES));

/**
 * The signatures of the plain entries of one bundle; `false` means that the general verifier must
 * decide.
 */
export class FastSignatures {
  /** The keys of the signatures. */
  readonly keys = new Set<string>();
  readonly #check: SignatureVerifier;
  readonly #periods: ReadonlyMap<string, KeyPeriod> | undefined;
  readonly #paths: BatchPaths;
  readonly #singles: Single[] = [];
  #signer: Signer | undefined;

  constructor(check: SignatureVerifier, periods: ReadonlyMap<string, KeyPeriod> | undefined) {
    this.#check = check;
    this.#periods = periods;
    this.#paths = new BatchPaths(check);
  }

  /**
   * Takes the signature of the receipt at a position of the bundle; false when its key was not in
   * use or its batch signature is invalid. It moves the bytes of the receipt together into the
   * signed text: the caller must not read or change them afterwards.
   */
  take(parts: PlainParts, bundle: Buffer, start: number, index: number): boolean {
    const signer = this.#signerOf(parts.key);
    if (signer === undefined) return false;
    if (index < signer.period.first || index >= signer.period.end) return false;
    const { single, other } = parts;
    const member = MEMBER + (other === undefined ? SINGLE : other.length);
    const at = start + parts.before;
    bundle.copyWithin(at, at + member, start + parts.length);
    const end = start + parts.length - member;
    if (single !== undefined) {
      const signature = signatures[this.#singles.length];
      if (signature === undefined) return false;
      signature.write(single, "hex");
      this.#singles.push({ key: signer.bytes, message: bundle.subarray(start, end), signature });
      return true;
    }
    // A blocked event must not share a signature.
    if (other === undefined || !parts.isAllowed) return false;
    bundle[start - 1] = LEAF_PREFIX;
    const leaf = latin1Hash(bundle.subarray(start - 1, end));
    try {
      return this.#paths.holds(leaf, signer, other);
    } catch {
      return false;
    }
  }

  /**
   * Whether all single signatures are valid. They are checked in one loop: checking after each
   * entry would find cold processor caches every time, which costs 4 µs of 70.
   */
  hold(): boolean {
    return this.#singles.every(
      ({ key, message, signature }) => this.#check(key, message, signature) === true,
    );
  }

  #signerOf(text: string): Signer | undefined {
    if (this.#signer?.text === text) return this.#signer;
    const period = this.#periods?.get(text);
    if (period === undefined) return undefined;
    this.keys.add(text);
    this.#signer = { text, bytes: parseKeyText(text), period };
    return this.#signer;
  }
}
