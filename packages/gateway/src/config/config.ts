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
};
