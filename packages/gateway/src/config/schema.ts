import { choice, closed, flag, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { EMITTER_PROFILES } from "@countersign/wire/dialects";
import { OPENABLE_METHODS } from "../agent/runtime-calls.js";
import { ACCESS_SCHEMA, seconds } from "./access.js";
import { CLUSTER_SCHEMA } from "./cluster.js";
import { controlSchema } from "./control.js";
import { IDENTITY_FORMS } from "../event/client-identity.js";
import { LIMITS_SCHEMA } from "./listen-limits.js";
import { LOGS_SCHEMA, TRACING_SCHEMA, WEBHOOK_SCHEMA } from "./outgoing.js";
import { LOG_LEVELS } from "../telemetry/journal.js";
import { TIMESTAMPS_SCHEMA, WITNESSES_SCHEMA } from "./witnesses.js";

const port: JsonSchema = {
  type: "integer",
  description: "TCP port; 0 takes a free one",
  minimum: 0,
  maximum: 65_535,
};

const duration = (description: string): JsonSchema => ({
  type: "string",
  description,
  pattern: "^[1-9][0-9]{0,4}[dh]$",
});

const listener = closed("Where clients connect", {
  host: text("Address to bind; loopback when left out"),
  port,
  heartbeat: seconds("Seconds between two signs of life on a quiet stream; 15 when left out"),
  tls: closed(
    "Certificate and key in PEM; with them HTTP/2 is spoken too",
    {
      cert: text("Path of the certificate chain", 4096),
      key: text("Path of the private key", 4096),
    },
    ["cert", "key"],
  ),
});

const agent = closed(
  "One agent the gateway stands in front of",
  {
    url: text("Where the agent listens", 2048),
    kind: choice("Kind of server; ag-ui when left out", ["ag-ui", "copilotkit-runtime"]),
    runtime_agents: list(
      "Agents of a CopilotKit runtime that clients may reach; only default when left out",
      text("Name of an agent of the runtime", 256),
      256,
    ),
    routes: list(
      "Further routes of a CopilotKit runtime that clients may reach, without a decision of the policy",
      choice("Route", OPENABLE_METHODS),
      OPENABLE_METHODS.length,
    ),
    transport: choice("How the agent is spoken to", ["post-sse", "get-sse", "websocket"]),
    frames: choice("How a WebSocket agent writes its frames", ["json", "data"]),
    dialect: choice("What the agent speaks", ["auto", "1.1", "1.0", "0.0", "0.1.0", "envelope"]),
    profile: choice(
      "Which known deviations of the agent's framework are repaired; auto when left out",
      EMITTER_PROFILES,
    ),
    accept: choice("Which encoding the agent is asked for over HTTP; sse when left out", [
      "sse",
      "protobuf",
    ]),
    headers: {
      type: "object",
      description: "Sent with every request; ${NAME} takes the value of an environment variable",
      additionalProperties: text("Header value", 8192),
      maxProperties: 64,
    },
    forward_authorization: flag("Whether the agent gets the client's own Authorization", false),
    chio_keys: list(
      "Public keys of the agent: a Chio token is valid for the agent whose key is its subject",
      text("ed25519:HEX", 512),
      16,
    ),
    answer_timeout: seconds("Seconds until the agent must answer"),
    idle_timeout: seconds("Seconds an open stream may be silent"),
  },
  ["url"],
);

/** The schema of `countersign.yaml`; editors use it for completion and validation. */
export const CONFIG_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "countersign.yaml",
  ...closed(
    "Configuration of a Countersign gateway",
    {
      listen: listener,
      control: controlSchema(port),
      agents: {
        type: "object",
        description: "The agents by name",
        additionalProperties: agent,
        maxProperties: 1000,
      },
      default_agent: text("The agent that paths without a name mean; the first when left out"),
      policy: text("Path of the policy file", 4096),
      origins: list(
        "Origins of pages that may call the gateway from a browser",
        text("Origin", 512),
        256,
      ),
      access: ACCESS_SCHEMA,
      limits: LIMITS_SCHEMA,
      receipts: closed("Where receipts go", {
        store: text("sqlite:DIRECTORY or a postgres:// address", 4096),
        durability: choice("What an append survives", ["strict", "relaxed"]),
        sign: choice("A signature for each receipt, or one per group", ["each", "batch"]),
        origin: text("Name of the log", 255),
        to_clients: choice(
          "Whether a client gets the receipts of what it is shown, beside it, when it asks for them",
          ["on_request", "never"],
        ),
        keep: duration(
          "How long receipts are kept, in days (90d) or hours (12h); all of them when left out. Hashes of removed receipts stay",
        ),
        principal: choice(
          "How receipts, lists and log lines show principals: as they are, as a keyed hash, or not at all; plain when left out",
          IDENTITY_FORMS,
        ),
        client_address: choice(
          "How receipts, lists and log lines show client addresses; plain when left out",
          IDENTITY_FORMS,
        ),
        scrub_rate: {
          type: "integer",
          description:
            "Entries that are read again in a second, in the background; 500 when left out, 0 for none",
          minimum: 0,
          maximum: 1_000_000,
        },
        witnesses: WITNESSES_SCHEMA,
        timestamps: TIMESTAMPS_SCHEMA,
      }),
      evidence: closed(
        "Encrypted copies of payloads beside the log, for a limited time; off when left out",
        {
          keep: duration("How long a copy is kept, in days (7d) or hours (12h)"),
          events: choice(
            "Which payloads are kept: those with a blocked part, or all; blocked when left out",
            ["blocked", "all"],
          ),
          max_bytes: {
            type: "integer",
            description:
              "Bytes of all copies, of which the oldest are removed first; 1073741824 (1 GiB) when left out",
            minimum: 1_048_576,
            maximum: 1_099_511_627_776,
          },
          max_payload_bytes: {
            type: "integer",
            description: "Bytes of one payload; a larger one is not kept; 1048576 when left out",
            minimum: 1024,
            maximum: 67_108_864,
          },
        },
        ["keep"],
      ),
      cluster: CLUSTER_SCHEMA,
      keys: closed("The directory of the gateway's keys", {
        directory: text("Directory of the key files", 4096),
      }),
      capabilities: closed("Whose tokens count", {
        issuers: list("Public keys of trusted issuers", text("ed25519:HEX", 512), 256),
        revocations: text("Path of the revocation list", 4096),
      }),
      log: closed("The gateway's log", {
        level: choice("The gentlest that is written", LOG_LEVELS),
        format: choice("`auto` is for people on a terminal and JSON elsewhere", ["auto", "json"]),
        otlp: LOGS_SCHEMA,
      }),
      metrics: closed("Figures for Prometheus, at /metrics of the control plane", {
        public: flag("Whether /metrics of the control plane needs no credential", false),
        host: text("Address of a listener for /metrics alone; loopback when left out"),
        port: {
          ...port,
          description:
            "TCP port of a listener for /metrics alone, without credentials; off when left out",
        },
        names: list(
          "Host names under which that listener may be asked; addresses and names without a dot always may",
          text("Host name", 255),
          64,
        ),
      }),
      tracing: TRACING_SCHEMA,
      webhook: WEBHOOK_SCHEMA,
      threads: closed("How long conversations are remembered", {
        keep_days: {
          type: "integer",
          description:
            "Days after its last write that a thread is remembered; then any client may reuse its id",
          minimum: 1,
          maximum: 3650,
        },
      }),
      shutdown: closed("How the gateway stops", {
        delay: seconds("Seconds between not being ready and refusing new runs", 0),
        drain_timeout: seconds("Seconds that open runs get to end by themselves", 0),
      }),
    },
    ["agents"],
  ),
};
