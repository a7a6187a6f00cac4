import "@countersign/core";

/** Why a credential does not count; never anything the credential itself says. */
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
    /** A request came without a credential. */
    ERR_ACCESS_MISSING: Record<string, never>;
    /** A request came with a credential that does not count. */
    ERR_ACCESS_TOKEN: { reason: TokenFault };
    /** The credential is good, but lacks a scope that the configuration asks for. */
    ERR_ACCESS_SCOPE: { scopes: readonly string[] };
    /** The issuer's keys cannot be had, so nothing can be decided. */
    ERR_ACCESS_KEYS: { issuer: string };
    /** The session belongs to somebody else. */
    ERR_ACCESS_SESSION: Record<string, never>;
    /** The principal has as many runs open as it may. */
    ERR_ACCESS_RUNS: { allowed: number };
    /** The client's address has as many connections open as it may. */
    ERR_ACCESS_ADDRESS: { allowed: number };
    /** No more tickets can be remembered now. */
    ERR_ACCESS_FULL: Record<string, never>;
    /** A list of API keys cannot be read. */
    ERR_ACCESS_KEY_LIST: { file: string; line: number };
  }
}
