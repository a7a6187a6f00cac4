import { encodeHex, equalBytes } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { keyThumbprintHex } from "../cose/cose-key.js";
import type { CoseReceipt } from "../cose/receipt.js";
import { decodeCoseReceipt, treeSubject } from "../cose/receipt.js";
import { signatureInput } from "../cose/sign1.js";
import type { Sign1 } from "../cose/sign1.js";
import type { SignedStatement } from "../cose/statement.js";
import { decodeStatement, ENTRY_CONTENT_TYPE, entrySubject } from "../cose/statement.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { parseKeyText } from "../keys/key-text.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { leafHash } from "../merkle/hash.js";
import { rootFromInclusion } from "../merkle/verify-proof.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { encodeVkey, NOTE_ED25519, parseVkey } from "../note/vkey.js";
import { checkEntry } from "../verify/entry.js";
import type { ReceiptOptions } from "../verify/receipt.js";
import { normalKey } from "../verify/receipt.js";
import type { Check, SignerTrust, Verification } from "../verify/result.js";
import { conclude, failed, failedBy, held } from "../verify/result.js";

/** Options of {@link verifyStatement}. */
export type StatementOptions = Omit<ReceiptOptions, "event"> & {
  /** vkeys of logs that the verifier trusts. */
  trustedLogs?: readonly string[];
  /** Receipt keys that came with the statement, `ed25519:` and hex: enough to check validity, never enough for trust. */
  presentedKeys?: readonly string[];
  /** The vkey that came with the statement. */
  presentedLog?: string;
  /** The entries that each key may sign (`keyPeriods`). */
  periods?: ReadonlyMap<string, KeyPeriod>;
};

/** The checks of one statement, and what they are about as far as it could be read. */
export type StatementReport = {
  readonly checks: readonly Check[];
  readonly signers: readonly SignerTrust[];
  /** The index of the entry by the inclusion proof. */
  readonly index?: number;
  /** The tree that the receipt's proof leads to. */
  readonly tree?: { readonly size: number; readonly root: Uint8Array };
  readonly entry?: Uint8Array;
};

/** Verifies statements with one set of keys; the signature of a root is verified once for all its receipts. */
export type StatementVerifier = {
  verify(bytes: Uint8Array): Promise<StatementReport>;
  /** Whether the issuer signed a statement, and who that is. */
  verifyIssuer(statement: SignedStatement, size: number): Promise<StatementReport>;
};

/** Creates a verifier of statements. */
export function createStatementVerifier(options: StatementOptions): StatementVerifier {
  const verifySignature = options.verifySignature ?? verifyEd25519;
  const issuers = issuerKeys(options);
  const logs = logKeys(options);
  const roots = createRootVerifier(verifySignature);

  async function verifyIssuer(statement: SignedStatement, size: number): Promise<StatementReport> {
    const id = "statement-signature";
    const keyId = encodeHex(statement.header.keyId);
    const signer = issuers.get(keyId);
    if (signer === undefined) {
      return {
        checks: [failed(id, `the key with the thumbprint ${keyId} was not given`)],
        signers: [],
      };
    }
    const message = signatureInput(statement.signed.protectedBytes, statement.payload);
    const key = parseKeyText(signer.key);
    const isSigned = await verifySignature(key, message, statement.signed.signature);
    if (!isSigned) return { checks: [failed(id, "the signature is not valid")], signers: [signer] };
    const checks = [held(id, `signed with ${signer.key}`)];
    const fault = options.periods && issuerFault(options.periods, signer.key, size);
    if (options.periods !== undefined) {
      checks.push(
        fault === undefined
          ? held("statement-key", "in the history")
          : failed("statement-key", fault),
      );
    }
    return { checks, signers: [signer] };
  }

  async function verifyReceipt(
    receipt: CoseReceipt,
    payload: Uint8Array,
  ): Promise<StatementReport> {
    const { header, index, size, path, signed } = receipt;
    const id = "inclusion";
    const root = rootFromInclusion(leafHash(payload), index, size, path);
    if (root === undefined) {
      const detail = `the path does not fit entry ${index} of ${size}`;
      return { checks: [failed(id, detail, index)], signers: [] };
    }
    const keyId = encodeHex(header.keyId);
    const log = logs.get(`${keyId} ${header.issuer}`);
    if (log === undefined) {
      const detail = `the key of ${header.issuer} with the thumbprint ${keyId} was not given`;
      return { checks: [failed(id, detail, index)], signers: [] };
    }
    const signers = [log.trust];
    if (!(await roots(log.key, signed, root))) {
      const detail = "the log did not sign the root that the proof leads to";
      return { checks: [failed(id, detail, index)], signers };
    }
    const checks = [held(id, `entry ${index} of ${size}, root signed by ${header.issuer}`, index)];
    return { checks, signers, tree: { size, root } };
  }

  return {
    verifyIssuer,
    async verify(bytes) {
      let statement: SignedStatement;
      try {
        statement = decodeStatement(bytes, ENTRY_CONTENT_TYPE);
      } catch (error) {
        return { checks: [failedBy("statement-format", error)], signers: [] };
      }
      const checks: Check[] = [held("statement-format", `${bytes.length} bytes`)];
      let receipt: CoseReceipt;
      try {
        receipt = decodeCoseReceipt(statement.receipt ?? new Uint8Array(0));
      } catch (error) {
        const issuer = await verifyIssuer(statement, 0);
        const missing = failed("cose-receipt", "the statement has no receipt");
        const check = statement.receipt === undefined ? missing : failedBy("cose-receipt", error);
        return { checks: [...checks, ...issuer.checks, check], signers: issuer.signers };
      }
      const { index, size } = receipt;
      const issuer = await verifyIssuer(statement, size);
      checks.push(...issuer.checks, held("cose-receipt", `for entry ${index} of ${size}`, index));
      const included = await verifyReceipt(receipt, statement.payload);
      checks.push(...included.checks, checkClaims(statement, receipt));
      const inner = await checkEntry(statement.payload, { ...options, index });
      return {
        checks: [...checks, ...inner.checks.filter(({ id }) => id !== "payload-hash")],
        signers: distinct([...issuer.signers, ...included.signers, ...inner.signers]),
        index,
        entry: statement.payload,
        ...(included.tree && { tree: included.tree }),
      };
    },
  };
}

/** Verifies a transparent statement: issuer, receipt, inclusion, entry, and the receipt in the entry. */
export async function verifyStatement(
  bytes: Uint8Array,
  options: StatementOptions = {},
): Promise<Verification> {
  const { checks, signers } = await createStatementVerifier(options).verify(bytes);
  return conclude(checks, signers);
}

/** The receipt keys that may have signed, by thumbprint. */
function issuerKeys(options: StatementOptions): Map<string, SignerTrust> {
  const trusted = options.trustedKeys?.map(normalKey);
  const keys = new Set([...(trusted ?? []), ...(options.presentedKeys ?? []).map(normalKey)]);
  return new Map(
    [...keys].map((key) => [
      keyThumbprintHex(parseKeyText(key)),
      { key, role: "receipt", trusted: trusted?.includes(key) ?? null },
    ]),
  );
}

/** The log keys that may have signed, by thumbprint and name of the log. */
function logKeys(options: StatementOptions): Map<string, { key: NoteKey; trust: SignerTrust }> {
  const { trustedLogs, presentedLog } = options;
  const known = new Map<string, { key: NoteKey; trust: SignerTrust }>();
  const add = (vkey: string, trusted: boolean | null): void => {
    const key = parseVkey(vkey);
    const name = `${keyThumbprintHex(key.publicKey)} ${key.name}`;
    // A witness's key (type 0x04) signs checkpoints and no roots.
    if (key.type !== NOTE_ED25519 || known.has(name)) return;
    known.set(name, { key, trust: { key: encodeVkey(key), role: "log", trusted } });
  };
  for (const vkey of trustedLogs ?? []) add(vkey, true);
  if (presentedLog !== undefined) add(presentedLog, trustedLogs === undefined ? null : false);
  return known;
}

/** Remembers the last root whose signature was verified: all receipts of an export share it. */
function createRootVerifier(
  verifySignature: SignatureVerifier,
): (key: NoteKey, signed: Sign1, root: Uint8Array) => Promise<boolean> {
  let last: { message: Uint8Array; signature: Uint8Array; key: NoteKey } | undefined;
  return async (key, { protectedBytes, signature }, root) => {
    const message = signatureInput(protectedBytes, root);
    const isKnown =
      last?.key === key &&
      equalBytes(last.message, message) &&
      equalBytes(last.signature, signature);
    if (isKnown) return true;
    if (!(await verifySignature(key.publicKey, message, signature))) return false;
    last = { message, signature: signature.slice(), key };
    return true;
  };
}

/**
 * Why a key may not issue a statement about a tree of this size. The statement is made after the
 * entries: a key that came later may issue it, one that was retired before the end of the tree may not.
 */
function issuerFault(
  periods: ReadonlyMap<string, KeyPeriod>,
  key: string,
  size: number,
): string | undefined {
  const period = periods.get(key);
  if (period === undefined) return "the key is not in the history";
  return size > period.end ? "the key was retired before the tree had this size" : undefined;
}

function checkClaims({ header, payload }: SignedStatement, receipt: CoseReceipt): Check {
  const id = "statement-claims";
  if (header.issuer !== receipt.header.issuer) {
    return failed(id, "statement and receipt have different issuers", receipt.index);
  }
  if (receipt.header.subject !== treeSubject(receipt.size)) {
    return failed(id, `the log signed ${receipt.header.subject}`, receipt.index);
  }
  try {
    const subject = entrySubject(decodeEntry(payload));
    return header.subject === subject
      ? held(id, `${header.issuer}, ${subject}`, receipt.index)
      : failed(id, `the subject is ${header.subject}, the entry's is ${subject}`, receipt.index);
  } catch (error) {
    return failedBy(id, error, receipt.index);
  }
}

/** Each key once: the issuer's key is mostly that of the receipt too. */
export function distinct(signers: readonly SignerTrust[]): SignerTrust[] {
  const seen = new Map(signers.map((signer) => [`${signer.role} ${signer.key}`, signer]));
  return [...seen.values()];
}
