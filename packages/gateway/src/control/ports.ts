import type { CapabilityGrant, IssuedCapability } from "@countersign/capability/issue";
import type { LoadResult, PolicyHolder, PolicyIssue, ReplaceResult } from "@countersign/policy";
import type { LogEntry } from "@countersign/receipts";
import type { ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import type { Timestamping } from "@countersign/receipts/timestamp";
import type { Witnessing } from "@countersign/receipts/witness";
import type { CapabilityRecord, CapabilityRecords } from "../access/capability-records.js";
import type { TokenVerifier } from "../access/capabilities.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { FileStates } from "../base/files.js";
import type { EvidenceConfig } from "../config/config.js";
import type { EvidenceFigures } from "../evidence/keep-evidence.js";
import type { EvidenceRead } from "../evidence/read-evidence.js";
import type { EvidenceUsage } from "../store/evidence-store.js";

/** The part of a gateway that the control plane uses. */
export type ControlledGateway = {
  readonly context: GatewayContext;
  /** The principal that owns a session; `undefined` if it has no owner. */
  ownerOf(sessionId: string): Promise<string | undefined>;
};

/** The number of policy reloads, and the result of the last one. */
export type PolicyReloads = {
  readonly ok: number;
  readonly failed: number;
  /** The newest file does not load; the last valid policy decides. */
  readonly isStale: boolean;
  /** The problems of the newest file; empty when it loaded. */
  readonly issues: readonly PolicyIssue[];
};

/** A policy that can be reloaded. */
export type OpenPolicy = {
  readonly holder: PolicyHolder;
  /** Reads the file again; the last valid policy stays when it does not load. */
  reload(): ReplaceResult;
  readonly reloads: PolicyReloads;
  /** The configured file; `undefined` for the built-in policy. */
  readonly file: string | undefined;
  /** The text of that file, or of the built-in policy, which decides now. */
  text(): string;
  /** Loads a candidate as if it were the text of the file. It may extend only files that the policy extends now. */
  check(text: string): LoadResult;
  /** The files it was read from: itself and those it extends. */
  files(): readonly string[];
  /** The state of each file before it was read. */
  seen(): FileStates;
};

/** The third parties that vouch for checkpoints: witnesses, and a timestamp authority. */
export type OpenAttesting = {
  /** `undefined` without witnesses. */
  readonly witnessing: Witnessing | undefined;
  /** `undefined` without a timestamp authority. */
  readonly timestamping: Timestamping | undefined;
  /** Whether the log has had entries without enough cosignatures for longer than configured. */
  isLate(): boolean;
  /** Refuses to append while it is late, if the configuration says so. */
  assertWitnessed(): void;
  /** Starts the rounds of requests. */
  start(): void;
  /** Has the last entries cosigned, within seconds; `checkpoint` signs them. */
  close(checkpoint: () => Promise<unknown>): Promise<void>;
};

/** The log that receipts are appended to, and the store that is queried. */
export type OpenReceipts = {
  readonly log: ReceiptLog;
  readonly store: ReceiptStore;
  /** The verification key of its checkpoints. */
  readonly logKey: string;
  readonly attesting: OpenAttesting;
  /** The number of indexed entries, if the store has its own index. */
  indexed(): Promise<number> | undefined;
};

/** The evidence store, whose copies operators may read. */
export type OpenEvidence = {
  readonly settings: EvidenceConfig;
  readonly figures: Readonly<EvidenceFigures>;
  usage(): Promise<EvidenceUsage>;
  /** Decrypts the copies of entries, and compares them with the log; entries without a copy are left out. */
  read(entries: readonly LogEntry[]): Promise<EvidenceRead[]>;
};

/** Verifies tokens of trusted issuers, and issues tokens of its own. */
export type OpenTokens = {
  readonly verifier: TokenVerifier;
  /** The issuer name of this gateway. */
  readonly issuer: string;
  issue(grant: CapabilityGrant): Promise<IssuedCapability>;
  /** The capabilities that operators issued, and the tokens that they handed to sessions. */
  readonly records: CapabilityRecords;
  /** Whether a capability was revoked. */
  isRevoked(id: string): boolean;
  /** The events that each limited capability has left over all gateways, by id. */
  remaining(records: readonly CapabilityRecord[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Effective for the next event of every open stream. Resolves when the revocation is stored: in the revocation
   * file, if there is one, and in the shared database, if there is one.
   */
  revoke(id: string): Promise<void>;
  /** Reads additions to the revocation file, or returns why it cannot be read; known revocations stay. */
  reread(): string | undefined;
  /** The state of the revocation file, if there is one, before it was read. */
  seen(): FileStates;
  readonly revocations: { readonly count: number; readonly isStale: boolean };
  /** Stops polling for revocations of other gateways. */
  close(): Promise<void>;
};
