import type { Lossless } from "./lossless.js";

/** A constraint of a grant; what `value` means depends on the type. */
export type ChioConstraint = { readonly type: string; readonly value?: Lossless };

/** What a token allows on one server. */
export type ChioGrant = {
  readonly serverId: string;
  readonly toolName: string;
  readonly operations: readonly string[];
  readonly constraints: readonly ChioConstraint[];
  readonly maxInvocations?: number;
  readonly needsPossession: boolean;
};

/** How a step of the chain made the token weaker. */
export type ChioAttenuation = { readonly [name: string]: Lossless };

/** One step by which a token came to its subject. */
export type ChioLink = {
  readonly capabilityId: string;
  readonly delegator: string;
  readonly delegatee: string;
  readonly timestamp: bigint;
  readonly attenuations: readonly ChioAttenuation[];
  readonly signature: string;
  readonly has: {
    readonly aggregate: boolean;
    readonly cumulative: boolean;
    readonly binding: boolean;
  };
};

/** A Chio token, read but not believed. Keys and signatures are still text. */
export type ChioToken = {
  readonly schema?: string;
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly grants: readonly ChioGrant[];
  readonly issuedAt: bigint;
  readonly expiresAt: bigint;
  readonly chain: readonly ChioLink[];
  readonly budgetShare?: number;
  readonly algorithm?: string;
  readonly signature: string;
  readonly has: {
    readonly caveats: boolean;
    readonly aggregate: boolean;
    readonly attenuation: boolean;
  };
};
