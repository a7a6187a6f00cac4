import type { LogFormat, LogLevel } from "../telemetry/journal.js";
import type { UpstreamTarget } from "../upstream/upstream.js";

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
  readonly control: { readonly host: string; readonly port: number };
  readonly agents: readonly UpstreamTarget[];
  readonly defaultAgent: string;
  /** `undefined` uses the built-in starter policy. */
  readonly policyFile: string | undefined;
  readonly origins: readonly string[];
  readonly receipts: {
    readonly store: string;
    readonly durability: "strict" | "relaxed";
    readonly sign: "each" | "batch";
    readonly origin: string;
  };
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
  readonly shutdown: { readonly delayMs: number; readonly drainTimeoutMs: number };
};
