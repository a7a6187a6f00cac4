import type { Lossless } from "./lossless.js";

/** A constraint of a grant; the meaning of `value` depends on the type. */
export type ChioConstraint = { readonly type: string; readonly value?: Lossless };

/** The operations that a token allows on one server. */
export type ChioGrant = {
  readonly serverId: string;
  readonly toolName: string;
  readonly operations: readonly string[];
  readonly constraints: readonly ChioConstraint[];
  readonly maxInvocations?: number;
  readonly needsPossession: boolean;
};

/** One attenuation of a delegation link. */
export type ChioAttenuation = { readonly [name: string]: Lossless };

/** One link of the delegation chain. */
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

/** A parsed Chio token, not verified. Keys and signatures are still text. */
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
