/** Who a connection acts for. */
export type Principal = {
  /** Unique over everything that can vouch for somebody: it names the issuer or the list it comes from. */
  readonly id: string;
  /** Milliseconds since the epoch after which what was opened with it ends. */
  readonly expiresAt?: number;
};

/** Whoever connects where no credential is asked for. */
export const ANONYMOUS: Principal = { id: "anonymous" };
