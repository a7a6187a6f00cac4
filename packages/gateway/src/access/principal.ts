/** The person or service that a connection acts for. */
export type Principal = {
  /** Unique across all authentication methods: it contains the issuer or the key list. */
  readonly id: string;
  /** Milliseconds since the epoch after which everything opened with it ends. */
  readonly expiresAt?: number;
};

/** The principal of a client without a credential. */
export const ANONYMOUS: Principal = { id: "anonymous" };
