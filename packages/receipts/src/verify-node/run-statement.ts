import { canonicalJson, encodeHex } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { keyThumbprintHex } from "../cose/cose-key.js";
import type { DsseEnvelope } from "../dsse/envelope.js";
import { decodeEnvelope, preAuthEncoding } from "../dsse/envelope.js";
import type { RunStatement } from "../dsse/run-statement.js";
import { decodeRunStatement, IN_TOTO_PAYLOAD_TYPE } from "../dsse/run-statement.js";
import { createRunSummary } from "../dsse/run-summary.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { encodeVkey, NOTE_ED25519, parseVkey } from "../note/vkey.js";
import type { Check, SignerTrust, Verification } from "../verify/result.js";
import { conclude, failed, failedBy, held, skipped } from "../verify/result.js";

/** A log, or the entries of a run from it, that were verified before. */
export type RunLog = {
  readonly origin: string;
  readonly size: number;
  /** Entries before this one were removed because of their age. */
  readonly first: number;
  /** The root of the first `size` entries; undefined when it cannot be told. */
  root(size: number): Promise<Uint8Array | undefined>;
  /** Entries in order; those of other runs may be among them. */
  entries(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

/** Options of {@link verifyRunStatement}. */
export type RunStatementOptions = {
  /** vkeys of logs that the verifier trusts. */
  trustedLogs?: readonly string[];
  /** A vkey that came with the log. */
  presentedLog?: string;
  /** The log that must have the run; without it only the signature is verified. */
  log?: RunLog;
  verifySignature?: SignatureVerifier;
};

/** Verifies the statement of a log about one run, alone or against the log. */
export async function verifyRunStatement(
  text: string,
  options: RunStatementOptions,
): Promise<Verification> {
  let envelope: DsseEnvelope;
  let statement: RunStatement;
  try {
    envelope = decodeEnvelope(text);
    statement = decodeRunStatement(envelope.payload);
  } catch (error) {
    return conclude([failedBy("run-statement", error)], []);
  }
  const { run, entries, log, tree } = statement;
  const removed = tree.first === 0 ? "" : `, which had removed those before ${tree.first}`;
  const thread = run.thread_id === undefined ? "" : ` of ${run.thread_id}`;
  const checks = [
    held("run-statement", `${run.run_id}${thread}, ${entries.count} entries of ${log}${removed}`),
  ];
  const signed = await checkSignature(envelope, statement, options);
  checks.push(signed.check);
  if (options.log === undefined) {
    checks.push(skipped("run-entries", "no log or export was given"));
  } else checks.push(...(await checkAgainst(statement, options.log)));
  return conclude(checks, signed.signers);
}

async function checkSignature(
  envelope: DsseEnvelope,
  statement: RunStatement,
  options: RunStatementOptions,
): Promise<{ check: Check; signers: SignerTrust[] }> {
  const id = "run-signature";
  const fail = (detail: string): { check: Check; signers: SignerTrust[] } => ({
    check: failed(id, detail),
    signers: [],
  });
  if (envelope.payloadType !== IN_TOTO_PAYLOAD_TYPE) {
    return fail(`the payload type is not ${IN_TOTO_PAYLOAD_TYPE}`);
  }
  const keys = [
    ...(options.trustedLogs ?? []).map((vkey) => ({ key: parseVkey(vkey), trusted: true })),
    ...(options.presentedLog === undefined
      ? []
      : [
          {
            key: parseVkey(options.presentedLog),
            trusted: options.trustedLogs === undefined ? null : false,
          },
        ]),
  ];
  const isSigner = (key: NoteKey): boolean =>
    key.type === NOTE_ED25519 && keyThumbprintHex(key.publicKey) === envelope.keyId;
  const known = keys.find(({ key }) => isSigner(key));
  if (known === undefined) {
    return fail(`the log key with the thumbprint ${envelope.keyId} was not given`);
  }
  const { key, trusted } = known;
  if (key.name !== statement.log) return fail(`the key is not of the log ${statement.log}`);
  const message = preAuthEncoding(envelope.payloadType, envelope.payload);
  const verify = options.verifySignature ?? verifyEd25519;
  if (!(await verify(key.publicKey, message, envelope.signature))) {
    return fail("the signature is not valid");
  }
  const signers: SignerTrust[] = [{ key: encodeVkey(key), role: "log", trusted }];
  return { check: held(id, `signed by ${key.name}`), signers };
}

async function checkAgainst(statement: RunStatement, log: RunLog): Promise<Check[]> {
  const { tree, entries } = statement;
  if (log.origin !== statement.log) {
    return [failed("run-tree", `the entries are of the log ${log.origin}`)];
  }
  if (log.size < tree.size) {
    return [
      failed("run-tree", `the log has ${log.size} entries, the statement is about ${tree.size}`),
    ];
  }
  const root = await log.root(tree.size);
  const checks: Check[] = [];
  if (root === undefined)
    checks.push(skipped("run-tree", "the entries are proven in another tree"));
  else if (encodeHex(root) === tree.root) checks.push(held("run-tree", `${tree.size} entries`));
  else checks.push(failed("run-tree", `the first ${tree.size} entries have another root`));
  // Removed entries of other runs, older than the first of this one, do not matter.
  if (entries.first < log.first) {
    return [...checks, failed("run-entries", `entries before ${log.first} were removed`)];
  }
  const summary = createRunSummary(statement.run, tree);
  for await (const bytes of log.entries()) summary.add(bytes);
  const facts = summary.facts();
  if (facts === undefined)
    return [...checks, failed("run-entries", "there is no entry of the run")];
  const { transcript, ...counted } = facts;
  const { decisions, policies } = statement;
  const isSame =
    canonicalJson(counted) === canonicalJson({ entries, decisions, policies: [...policies] });
  const place = `${counted.entries.count} entries, ${counted.entries.first} to ${counted.entries.last}`;
  checks.push(
    isSame
      ? held("run-entries", place)
      : failed("run-entries", `the log has ${place}, or other decisions or policies`),
    transcript === statement.transcript
      ? held("run-transcript", transcript)
      : failed("run-transcript", `the entries hash to ${transcript}`),
  );
  return checks;
}
