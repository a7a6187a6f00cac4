import { CountersignError } from "@countersign/core";
import type { TokenFault } from "./errors.js";
import { ANONYMOUS } from "./principal.js";
import type { Principal } from "./principal.js";

/** What stands for a grant in a ticket, so that any gateway can have it again. It is worth nothing by itself. */
export type GrantName = {
  /** How somebody was known and what was asked of them: a gateway that asks for something else does not restore it. */
  readonly way: string;
  readonly principal: string;
  readonly expiresAt?: number;
};

/** What a credential was good for when it was shown. */
export type Grant = {
  readonly principal: Principal;
  /** Without a name no ticket can be had for it. */
  readonly name?: GrantName;
  /** Whether it would still be accepted; asked again while what it opened is open. */
  isValid(): boolean;
};

/** One way to know somebody. */
export type Authenticator = {
  /**
   * Who the credential belongs to; `undefined` when it is none of this kind, so that the next one is asked.
   * Throws when it is of this kind and does not count.
   */
  authenticate(token: string): Promise<Grant | undefined>;
  /** The grant of that name; `undefined` when it is none of this kind, or counts no longer. */
  restore?(name: GrantName): Grant | undefined;
};

/** Decides who somebody is by what they show. */
export type Access = {
  /** Whether somebody who shows nothing comes in. */
  readonly allowsAnonymous: boolean;
  authenticate(token: string | undefined): Promise<Grant>;
  /** The grant that a ticket was issued on, here or elsewhere; `undefined` when it does not count here. */
  restore?(name: GrantName): Grant | undefined;
};

/** Longest credential that is looked at; a token of the field has about 1,100 characters. */
export const MAX_TOKEN_LENGTH = 8192;

const NOBODY: Grant = {
  principal: ANONYMOUS,
  name: { way: "none", principal: ANONYMOUS.id },
  isValid: () => true,
};
const restoreNobody = ({ way, principal }: GrantName): Grant | undefined =>
  way === "none" && principal === ANONYMOUS.id ? NOBODY : undefined;

/** Lets everybody in; what they show is not looked at. */
export const OPEN_ACCESS: Access = {
  allowsAnonymous: true,
  authenticate: () => Promise.resolve(NOBODY),
  restore: restoreNobody,
};

/**
 * Asks each way in order.
 *
 * With `allowAnonymous` whoever shows nothing comes in, but a credential that does not count is refused even
 * then: falling back would hide an expired token behind fewer rights.
 */
export function createAccess(
  authenticators: readonly Authenticator[],
  options: { readonly allowAnonymous?: boolean } = {},
): Access {
  return {
    allowsAnonymous: options.allowAnonymous === true,
    authenticate: async (token) => {
      if (token === undefined) {
        if (options.allowAnonymous === true) return NOBODY;
        throw new CountersignError("ERR_ACCESS_MISSING", "a credential is needed", {});
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
      return options.allowAnonymous === true ? restoreNobody(name) : undefined;
    },
  };
}

/** A refusal that tells the kind of fault and nothing of the credential. */
export function tokenError(reason: TokenFault): CountersignError<"ERR_ACCESS_TOKEN"> {
  return new CountersignError("ERR_ACCESS_TOKEN", `the credential does not count: ${reason}`, {
    reason,
  });
}
