import type { LogFormat, LogLevel } from "../telemetry/journal.js";
import type { ApiKeyEntry } from "../access/api-keys.js";
import type { ListenLimits } from "../base/limits.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** A way people are known. */
export type AccessMode = "jwt" | "keys" | "none";

/** Whose tokens count. */
export type IssuerConfig = {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly clientIds: readonly string[];
  /** An address, or the path of a file. */
  readonly jwks: URL | string;
  readonly algorithms: readonly string[];
  readonly toleranceMs: number;
  readonly principalClaim: string;
  readonly scopes: readonly string[];
  readonly cacheMs: number;
  readonly staleMs: number;
};

/** Who may connect. */
export type AccessConfig = {
  /** Asked in order; `none` lets in whoever shows nothing. */
  readonly modes: readonly AccessMode[];
  readonly issuers: readonly IssuerConfig[];
  readonly keys: readonly ApiKeyEntry[];
  readonly keyFile: string | undefined;
};

/** A gateway's configuration with every default filled in and every path resolved. */
export type GatewayConfig = {
  /** The file it came from, for messages. */
  readonly file: string;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly heartbeatMs?: number;
    readonly tls?: { readonly cert: string; readonly key: string };
  };
  readonly control: {
    readonly host: string;
    readonly port: number;
    /** Whether the web console is served there. */
    readonly console: boolean;
  };
  readonly agents: readonly UpstreamTarget[];
  readonly defaultAgent: string;
  /** `undefined` uses the built-in starter policy. */
  readonly policyFile: string | undefined;
  readonly origins: readonly string[];
  readonly access: AccessConfig;
  readonly limits: ListenLimits;
  readonly receipts: {
    readonly store: string;
    readonly durability: "strict" | "relaxed";
    readonly sign: "each" | "batch";
    readonly origin: string;
    /** Whether a client that asks gets the receipts of what it is shown. */
    readonly toClients: "on_request" | "never";
    /** Entries read again in a second, in the background; 0 for none. */
    readonly scrubRate: number;
  };
  /** Where other gateways of the log reach this one; `undefined` where they do not. */
  readonly fleet:
    | { readonly address: string; readonly host: string; readonly port: number }
    | undefined;
  readonly keyDirectory: string;
  readonly issuers: readonly string[];
  readonly revocationFile: string | undefined;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  readonly metrics: { readonly isPublic: boolean };
  /** `undefined` makes no traces. */
  readonly tracing:
    | {
        readonly endpoint: URL;
        readonly service: string;
        readonly headers: Readonly<Record<string, string>>;
      }
    | undefined;
  /** How long a thread nobody writes to is remembered. */
  readonly threads: { readonly keepMs: number };
  readonly shutdown: { readonly delayMs: number; readonly drainTimeoutMs: number };
};
