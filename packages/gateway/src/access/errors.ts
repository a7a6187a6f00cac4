import "@countersign/core";

/** Why a credential is invalid. It never contains anything from the credential itself. */
export type TokenFault =
  | "too-large"
  | "malformed"
  | "unknown"
  | "algorithm"
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "client"
  | "expired"
  | "not-yet-valid"
  | "claim"
  | "ticket";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request has no credential. */
    ERR_ACCESS_MISSING: Record<string, never>;
    /** A request has an invalid credential. */
    ERR_ACCESS_TOKEN: { reason: TokenFault };
    /** The credential is valid, but lacks a scope that the configuration requires. */
    ERR_ACCESS_SCOPE: { scopes: readonly string[] };
    /** The issuer's keys could not be fetched, so no token can be verified. */
    ERR_ACCESS_KEYS: { issuer: string };
    /** The session belongs to another principal. */
    ERR_ACCESS_SESSION: Record<string, never>;
    /** The principal has reached its limit of open runs. */
    ERR_ACCESS_RUNS: { allowed: number };
    /** The client's address has reached its limit of open connections. */
    ERR_ACCESS_ADDRESS: { allowed: number };
    /** The gateway has reached its limit of unused tickets. */
    ERR_ACCESS_FULL: Record<string, never>;
    /** A list of API keys is invalid. */
    ERR_ACCESS_KEY_LIST: { file: string; line: number };
  }
}
