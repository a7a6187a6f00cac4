import type { UpstreamTarget } from "../agent/upstream.js";
import type { AccessBlock } from "./access.js";
import type { GatewayConfig } from "./config.js";
import type { LimitsBlock } from "./listen-limits.js";

/** An agent as it is written in the file. */
export type AgentBlock = {
  url: string;
  transport?: UpstreamTarget["transport"];
  frames?: UpstreamTarget["frames"];
  dialect?: "auto" | "1.1" | "1.0" | "0.0" | "0.1.0" | "envelope";
  profile?: UpstreamTarget["profile"];
  accept?: UpstreamTarget["accept"];
  headers?: Record<string, string>;
  forward_authorization?: boolean;
  answer_timeout?: number;
  idle_timeout?: number;
};

/** `countersign.yaml` as it is written, after it passed the schema. */
export type ConfigDocument = {
  listen?: {
    host?: string;
    port?: number;
    heartbeat?: number;
    tls?: { cert: string; key: string };
  };
  control?: {
    host?: string;
    port?: number;
    console?: boolean;
    i_understand_that_the_admin_token_travels_in_clear?: boolean;
  };
  agents: Record<string, AgentBlock>;
  default_agent?: string;
  policy?: string;
  origins?: string[];
  access?: AccessBlock;
  limits?: LimitsBlock;
  receipts?: Partial<Omit<GatewayConfig["receipts"], "toClients" | "scrubRate">> & {
    to_clients?: GatewayConfig["receipts"]["toClients"];
    scrub_rate?: number;
  };
  fleet?: { address: string; host?: string; port?: number };
  keys?: { directory?: string };
  capabilities?: { issuers?: string[]; revocations?: string };
  log?: Partial<GatewayConfig["log"]>;
  metrics?: { public?: boolean };
  tracing?: { endpoint: string; service?: string; headers?: Record<string, string> };
  threads?: { keep_days?: number };
  shutdown?: { delay?: number; drain_timeout?: number };
};

/** The default addresses of the listeners. */
export const LISTENERS = {
  data: { host: "127.0.0.1", port: 8080 },
  control: { host: "127.0.0.1", port: 8081 },
  fleet: { port: 8082 },
} as const;
