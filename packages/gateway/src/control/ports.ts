import type { CapabilityGrant, IssuedCapability } from "@countersign/capability/issue";
import type { PolicyHolder, PolicyIssue, ReplaceResult } from "@countersign/policy";
import type { ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import type { TokenVerifier } from "../access/capabilities.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { FileStates } from "../base/file-states.js";

/** The gateway as the control plane knows it. */
export type ControlledGateway = {
  readonly context: GatewayContext;
  /** The principal that owns a session; `undefined` where nobody does. */
  ownerOf(sessionId: string): Promise<string | undefined>;
};

/** How often the policy was read again, and how the last attempt went. */
export type PolicyReloads = {
  readonly ok: number;
  readonly failed: number;
  /** The newest text does not load; the last good policy decides. */
  readonly isStale: boolean;
  /** What is wrong with the newest text; empty when it loaded. */
  readonly issues: readonly PolicyIssue[];
};

/** A policy and the way to read it again. */
export type OpenPolicy = {
  readonly holder: PolicyHolder;
  /** Reads the file again; the last good policy stays when it does not load. */
  reload(): ReplaceResult;
  readonly reloads: PolicyReloads;
  /** The files it was read from, itself and what it extends. */
  files(): readonly string[];
  /** What each of them looked like before it was read. */
  seen(): FileStates;
};

/** The log receipts are appended to, and the store that answers questions about it. */
export type OpenReceipts = {
  readonly log: ReceiptLog;
  readonly store: ReceiptStore;
  /** The vkey that its checkpoints are signed with. */
  readonly logKey: string;
  /** Entries the index covers, where the store has an index of its own. */
  indexed(): Promise<number> | undefined;
};

/** The gateway's tokens: it verifies those of trusted issuers, itself among them. */
export type OpenTokens = {
  readonly verifier: TokenVerifier;
  /** The name under which this gateway issues. */
  readonly issuer: string;
  issue(grant: CapabilityGrant): Promise<IssuedCapability>;
  /**
   * Effective for the next event of every open stream. Resolves when it is kept: in the revocation file, if there is
   * one, and in the database, if gateways share one.
   */
  revoke(id: string): Promise<void>;
  /** Takes over what was added to the revocation file, or says why it cannot be read; what is known stays. */
  reread(): string | undefined;
  /** What the revocation file, if there is one, looked like before it was read. */
  seen(): FileStates;
  readonly revocations: { readonly count: number; readonly isStale: boolean };
  /** Stops looking for what other gateways revoke. */
  close(): Promise<void>;
};
