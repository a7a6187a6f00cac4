import type { OpenableMethod } from "../agent/runtime-calls.js";
import type { UpstreamTarget } from "../agent/upstream.js";
import type { AccessBlock } from "./access.js";
import type { ClusterBlock } from "./cluster.js";
import type { ControlBlock } from "./control.js";
import type { EvidenceEvents } from "../evidence/keep-evidence.js";
import type { GatewayConfig } from "./config.js";
import type { OutgoingBlocks } from "./outgoing.js";
import type { LimitsBlock } from "./listen-limits.js";
import type { TimestampsBlock, WitnessesBlock } from "./witnesses.js";

/** An agent as it is written in the file. */
export type AgentBlock = {
  url: string;
  kind?: "ag-ui" | "copilotkit-runtime";
  runtime_agents?: string[];
  routes?: OpenableMethod[];
  transport?: UpstreamTarget["transport"];
  frames?: UpstreamTarget["frames"];
  dialect?: "auto" | "1.1" | "1.0" | "0.0" | "0.1.0" | "envelope";
  profile?: UpstreamTarget["profile"];
  accept?: UpstreamTarget["accept"];
  headers?: Record<string, string>;
  forward_authorization?: boolean;
  chio_keys?: string[];
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
  control?: ControlBlock;
  agents: Record<string, AgentBlock>;
  default_agent?: string;
  policy?: string;
  origins?: string[];
  access?: AccessBlock;
  limits?: LimitsBlock;
  receipts?: Partial<
    Omit<
      GatewayConfig["receipts"],
      "toClients" | "scrubRate" | "keepMs" | "clientAddress" | "witnesses" | "timestamps"
    >
  > & {
    to_clients?: GatewayConfig["receipts"]["toClients"];
    scrub_rate?: number;
    keep?: string;
    client_address?: GatewayConfig["receipts"]["clientAddress"];
    witnesses?: WitnessesBlock;
    timestamps?: TimestampsBlock;
  };
  evidence?: {
    keep: string;
    events?: EvidenceEvents;
    max_bytes?: number;
    max_payload_bytes?: number;
  };
  cluster?: ClusterBlock;
  keys?: { directory?: string };
  capabilities?: { issuers?: string[]; revocations?: string };
  log?: Partial<Pick<GatewayConfig["log"], "level" | "format">> & OutgoingBlocks["log"];
  metrics?: { public?: boolean; host?: string; port?: number; names?: string[] };
  tracing?: NonNullable<OutgoingBlocks["tracing"]>;
  webhook?: NonNullable<OutgoingBlocks["webhook"]>;
  threads?: { keep_days?: number };
  shutdown?: { delay?: number; drain_timeout?: number };
};

/** The default addresses of the listeners. */
export const LISTENERS = {
  data: { host: "127.0.0.1", port: 8080 },
  control: { host: "127.0.0.1", port: 8081 },
  metrics: { host: "127.0.0.1" },
} as const;
