import { CountersignError } from "@countersign/core";
import type { TokenFault } from "../base/errors.js";

/** The person or service that a connection acts for. */
export type Principal = {
  /** Unique across all authentication methods: it contains the issuer or the key list. */
  readonly id: string;
  /** Milliseconds since the epoch after which everything opened with it ends. */
  readonly expiresAt?: number;
};

/** The principal of a client without a credential. */
export const ANONYMOUS: Principal = { id: "anonymous" };

/**
 * The name of a grant in a ticket, from which any gateway can restore the grant. The name alone is not a credential.
 */
export type GrantName = {
  /** How the holder was authenticated, with a hash of the requirements: a gateway with others does not restore it. */
  readonly way: string;
  readonly principal: string;
  readonly expiresAt?: number;
  /** The thumbprint of the issuer's key; the grant ends when the issuer withdraws the key. */
  readonly key?: string;
};

/** The result of a successful authentication. */
export type Grant = {
  readonly principal: Principal;
  /** Without a name no ticket can be issued for this grant. */
  readonly name?: GrantName;
  /**
   * Whether the gateway would still accept the credential. Checked repeatedly while anything opened with it is open.
   */
  isValid(): boolean;
};

/** One authentication method. */
export type Authenticator = {
  /**
   * The grant of a credential; `undefined` if this method does not handle it. Throws if it is of this kind but invalid.
   */
  authenticate(token: string): Promise<Grant | undefined>;
  /**
   * Restores the grant of that name, or returns `undefined` if this method did not issue it or it is no longer valid.
   */
  restore?(name: GrantName): Grant | undefined;
};

/** Authenticates the client of a request. */
export type Access = {
  /** Whether a client without a credential is accepted. */
  readonly allowsAnonymous: boolean;
  authenticate(token: string | undefined): Promise<Grant>;
  /** The grant that a ticket was issued for, here or at another gateway; `undefined` when it is not valid here. */
  restore?(name: GrantName): Grant | undefined;
};

/** The longest credential that is parsed; tokens of real issuers have about 1,100 characters. */
export const MAX_TOKEN_LENGTH = 8192;

const ANONYMOUS_GRANT: Grant = {
  principal: ANONYMOUS,
  name: { way: "none", principal: ANONYMOUS.id },
  isValid: () => true,
};
const restoreAnonymous = ({ way, principal }: GrantName): Grant | undefined =>
  way === "none" && principal === ANONYMOUS.id ? ANONYMOUS_GRANT : undefined;

/** Accepts every client without looking at its credential. */
export const OPEN_ACCESS: Access = {
  allowsAnonymous: true,
  authenticate: () => Promise.resolve(ANONYMOUS_GRANT),
  restore: restoreAnonymous,
};

/**
 * Tries each method in order.
 *
 * `allowAnonymous` accepts a client without a credential. An invalid credential is rejected even then: falling back
 * to anonymous would hide an expired token behind fewer rights.
 */
export function createAccess(
  authenticators: readonly Authenticator[],
  options: { readonly allowAnonymous?: boolean } = {},
): Access {
  return {
    allowsAnonymous: options.allowAnonymous === true,
    authenticate: async (token) => {
      if (token === undefined) {
        if (options.allowAnonymous === true) return ANONYMOUS_GRANT;
        throw new CountersignError("ERR_ACCESS_MISSING", "a credential is required", {});
      }
      if (token.length > MAX_TOKEN_LENGTH) throw tokenError("too-large");
      for (const authenticator of authenticators) {
        const grant = await authenticator.authenticate(token);
        if (grant !== undefined) return grant;
      }
      throw tokenError("unknown");
    },
    restore: (name) => {
      for (const authenticator of authenticators) {
        const grant = authenticator.restore?.(name);
        if (grant !== undefined) return grant;
      }
      return options.allowAnonymous === true ? restoreAnonymous(name) : undefined;
    },
  };
}

/** An error that names the kind of fault and repeats nothing of the credential. */
export function tokenError(reason: TokenFault): CountersignError<"ERR_ACCESS_TOKEN"> {
  return new CountersignError("ERR_ACCESS_TOKEN", `invalid credential: ${reason}`, {
    reason,
  });
}
