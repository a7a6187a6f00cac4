import type { LogFormat, LogLevel } from "../telemetry/journal.js";
import type { ApiKeyEntry } from "../access/api-keys.js";
import type { ListenLimits } from "../base/limits.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** An authentication method. */
export type AccessMode = "jwt" | "keys" | "none";

/** A trusted issuer of tokens. */
export type IssuerConfig = {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly clientIds: readonly string[];
  /** A URL, or the path of a file. */
  readonly jwks: URL | string;
  readonly algorithms: readonly string[];
  readonly toleranceMs: number;
  readonly principalClaim: string;
  readonly scopes: readonly string[];
  readonly cacheMs: number;
  readonly staleMs: number;
};

/** Authentication of clients, and the limits of the listener. */
export type AccessConfig = {
  /** Tried in order; `none` accepts a client without a credential. */
  readonly modes: readonly AccessMode[];
  readonly issuers: readonly IssuerConfig[];
  readonly keys: readonly ApiKeyEntry[];
  readonly keyFile: string | undefined;
};

/** A gateway's configuration with every default filled in and every path resolved. */
export type GatewayConfig = {
  /** The file it was loaded from, for messages. */
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
    /** Whether the control plane serves the web console. */
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
    /** Whether a client that requests receipts gets them. */
    readonly toClients: "on_request" | "never";
    /** Entries that the background scrub reads per second; 0 turns it off. */
    readonly scrubRate: number;
  };
  /** The address at which other gateways of the log reach this one; `undefined` if they do not. */
  readonly fleet:
    | { readonly address: string; readonly host: string; readonly port: number }
    | undefined;
  readonly keyDirectory: string;
  readonly issuers: readonly string[];
  readonly revocationFile: string | undefined;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  readonly metrics: { readonly isPublic: boolean };
  /** `undefined` turns tracing off. */
  readonly tracing:
    | {
        readonly endpoint: URL;
        readonly service: string;
        readonly headers: Readonly<Record<string, string>>;
      }
    | undefined;
  /** How long a thread is remembered after its last write. */
  readonly threads: { readonly keepMs: number };
  readonly shutdown: { readonly delayMs: number; readonly drainTimeoutMs: number };
};
