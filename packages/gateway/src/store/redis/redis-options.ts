/** The kinds of Redis: one server, servers behind Sentinel, or a Cluster. */
export type RedisKind = "server" | "sentinel" | "cluster";

/** Address and use of Redis or Valkey. */
export type RedisOptions = {
  /** Kind of service at the addresses. */
  readonly kind: RedisKind;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  /** The name of the primary at Sentinel, and the gateway's login there. */
  readonly sentinel?: {
    readonly name: string;
    readonly username?: string;
    readonly password?: string;
  };
  /** TLS with these files; an absent one takes the default of Node. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** The first part of every key and channel. */
  readonly prefix: string;
  /** Replicas that must have a grant before it counts. */
  readonly replicas: number;
  /** Whether the gateway refuses what needs Redis while it is down, or continues with weaker guarantees. */
  readonly whenDown: "refuse" | "degrade";
};
