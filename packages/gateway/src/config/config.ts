import type { EvidenceEvents } from "../evidence/keep-evidence.js";
import type { IdentityForm } from "../event/client-identity.js";
import type { LogFormat, LogLevel } from "../telemetry/journal.js";
import type { OtlpLogs } from "../telemetry/log-exporter.js";
import type { ApiKeyEntry } from "../access/api-keys.js";
import type { OperatorEntry, Role } from "../access/operators.js";
import type { ListenLimits } from "../base/limits.js";
import type { RedisOptions } from "../store/redis/redis-options.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** Behaviour while the log has entries that no witnessed checkpoint covers in time. */
export type OnMissing = "report" | "stop";

/** The witnesses of the log. */
export type WitnessesConfig = {
  readonly threshold: number;
  readonly list: readonly { readonly vkey: string; readonly url: string }[];
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** How long the log may have entries that no witnessed checkpoint covers. */
  readonly maxAgeMs: number;
  readonly onMissing: OnMissing;
  /** Whether a start asks the witnesses for their newest checkpoint. */
  readonly asksAtStart: boolean;
};

/** The timestamp authority of the log. */
export type TimestampsConfig = {
  readonly url: string;
  /** PEM file of the trusted certificates. */
  readonly caFile: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
};

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

/** A kind of events that a webhook gets. */
export type WebhookEvents = "denials" | "would_block" | "health";

/** The receiver of signed events. */
export type WebhookConfig = {
  readonly url: URL;
  readonly secretFile: string;
  readonly events: ReadonlySet<WebhookEvents>;
  readonly headers: Readonly<Record<string, string>>;
};

/** The control plane, and its operators. */
export type ControlConfig = {
  readonly host: string;
  readonly port: number;
  /** Whether the control plane serves the web console. */
  readonly console: boolean;
  /** Operators with tokens of their own, next to the admin token of the key directory. */
  readonly operators: readonly OperatorEntry[];
  readonly operatorsFile: string | undefined;
  readonly sessions: { readonly idleMs: number; readonly longestMs: number };
  readonly oidc:
    | {
        readonly issuer: URL;
        readonly clientId: string;
        readonly clientSecret: string | undefined;
        /** `undefined` for the address of the listener. */
        readonly redirect: URL | undefined;
        readonly scopes: readonly string[];
        readonly operatorClaim: string;
        readonly roles: { readonly claim: string; readonly map: ReadonlyMap<string, Role> };
        readonly name: string;
      }
    | undefined;
  readonly tls: TlsFiles | undefined;
  /** The role of each subject of a client certificate. */
  readonly certificates: ReadonlyMap<string, Role>;
  readonly requiresCertificate: boolean;
};

/** The files of a listener with TLS. */
export type TlsFiles = {
  readonly cert: string;
  readonly key: string;
  /** The certificates that sign client certificates. */
  readonly clientCa?: string;
};

/** The evidence store. */
export type EvidenceConfig = {
  /** Age after which a copy is removed. */
  readonly keepMs: number;
  readonly events: EvidenceEvents;
  /** Bytes of all copies; the oldest are removed first. */
  readonly maxBytes: number;
  /** A larger payload leaves a record without content. */
  readonly maxPayloadBytes: number;
};

/** A gateway's configuration with every default filled in and every path resolved. */
export type GatewayConfig = {
  /** The file it was loaded from, for messages. */
  readonly file: string;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly heartbeatMs?: number;
    readonly tls?: TlsFiles;
  };
  readonly control: ControlConfig;
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
    /** Age after which receipts are removed; `undefined` keeps all. */
    readonly keepMs: number | undefined;
    /** How receipts, lists and log lines show principals. */
    readonly principal: IdentityForm;
    /** How they show client addresses. */
    readonly clientAddress: IdentityForm;
    /** `undefined` asks no witness. */
    readonly witnesses: WitnessesConfig | undefined;
    /** `undefined` asks no timestamp authority. */
    readonly timestamps: TimestampsConfig | undefined;
  };
  /** Keeps encrypted copies of payloads; `undefined` keeps none. */
  readonly evidence: EvidenceConfig | undefined;
  /** Redis or Valkey beside PostgreSQL; `undefined` if gateways share PostgreSQL only. */
  readonly redis: RedisOptions | undefined;
  readonly keyDirectory: string;
  readonly issuers: readonly string[];
  /** The keys of each agent, by its name: subjects of its Chio tokens. */
  readonly chioKeys: Readonly<Record<string, readonly string[]>>;
  readonly revocationFile: string | undefined;
  readonly log: {
    readonly level: LogLevel;
    readonly format: LogFormat;
    /** The collector of log lines; `undefined` if they go to standard output only. */
    readonly otlp: OtlpLogs | undefined;
  };
  readonly metrics: {
    /** Whether `/metrics` of the control plane needs no credential. */
    readonly isPublic: boolean;
    /** A listener for the metrics alone; `undefined` if there is none. */
    readonly listener:
      | { readonly host: string; readonly port: number; readonly names: readonly string[] }
      | undefined;
  };
  /** `undefined` turns tracing off. */
  readonly tracing:
    | {
        readonly endpoint: URL;
        readonly service: string;
        readonly headers: Readonly<Record<string, string>>;
      }
    | undefined;
  /** `undefined` sends no events. */
  readonly webhook: WebhookConfig | undefined;
  /** How long a thread is remembered after its last write. */
  readonly threads: { readonly keepMs: number };
  readonly shutdown: { readonly delayMs: number; readonly drainTimeoutMs: number };
};
