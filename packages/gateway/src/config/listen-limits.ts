import { closed, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { isNetwork } from "../http/address.js";
import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";

/** The `limits` block as it is written: numbers by name, times in seconds. */
export type LimitsBlock = { trusted_proxies?: string[] } & {
  [Name in keyof typeof NUMBERS]?: number;
};

type NumberLimit = Exclude<keyof ListenLimits, "trustedProxies">;
type Bound = {
  readonly limit: NumberLimit;
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Factor from the unit of the file to the unit of the limit. */
  readonly scale?: number;
};

// The official client's own limit: it can read nothing larger.
const MAX_CLIENT_BYTES = 10_485_760;
const DAY = 86_400;

/** One entry per number: its name in the file, our name, and its range. */
const NUMBERS = {
  connections: {
    limit: "connections",
    description: "Connections at once",
    minimum: 1,
    maximum: 1_000_000,
  },
  connections_per_address: {
    limit: "connectionsPerAddress",
    description:
      "Connections at once from one address, or open requests of one behind a trusted proxy",
    minimum: 1,
    maximum: 1_000_000,
  },
  runs_per_principal: {
    limit: "runsPerPrincipal",
    description: "Runs at once of one principal",
    minimum: 1,
    maximum: 1_000_000,
  },
  header_bytes: {
    limit: "headerBytes",
    description: "Bytes of a request's head",
    minimum: 1024,
    maximum: 1_048_576,
  },
  headers_timeout: {
    limit: "headersTimeoutMs",
    description: "Seconds in which a request's head must be whole",
    minimum: 0.1,
    maximum: 3600,
    scale: 1000,
  },
  request_timeout: {
    limit: "requestTimeoutMs",
    description: "Seconds in which a request must be whole",
    minimum: 0.1,
    maximum: 3600,
    scale: 1000,
  },
  keep_alive: {
    limit: "keepAliveMs",
    description: "Seconds a connection may wait for its next request",
    minimum: 0.1,
    maximum: 3600,
    scale: 1000,
  },
  body_bytes: {
    limit: "bodyBytes",
    description: "Bytes of a request's body",
    minimum: 1024,
    maximum: MAX_CLIENT_BYTES,
  },
  frame_bytes: {
    limit: "frameBytes",
    description: "Bytes of a message on a WebSocket",
    minimum: 1024,
    maximum: MAX_CLIENT_BYTES,
  },
  messages_per_second: {
    limit: "messagesPerSecond",
    description: "Messages a second on one WebSocket",
    minimum: 1,
    maximum: 100_000,
  },
  socket_idle: {
    limit: "socketIdleMs",
    description: "Seconds a WebSocket may be open without a run and without a message",
    minimum: 1,
    maximum: DAY,
    scale: 1000,
  },
  auth_timeout: {
    limit: "authTimeoutMs",
    description: "Seconds in which a WebSocket must say who it is",
    minimum: 0.1,
    maximum: 300,
    scale: 1000,
  },
  reconnect_grace: {
    limit: "reconnectGraceMs",
    description:
      "Seconds a run goes on without its client, if that asked to be able to come back; 0 for none",
    minimum: 0,
    maximum: 3600,
    scale: 1000,
  },
  reconnect_bytes: {
    limit: "reconnectBytes",
    description: "Bytes of one stream kept for a client that comes back",
    minimum: 1024,
    maximum: 64 * 1_048_576,
  },
  reconnect_total_bytes: {
    limit: "reconnectTotalBytes",
    description: "Bytes kept for all clients that may come back",
    minimum: 1024,
    maximum: 64 * 1_073_741_824,
  },
  relays: {
    limit: "relays",
    description: "Streams of other gateways passed on at once to clients that came back here",
    minimum: 1,
    maximum: 1_000_000,
  },
  run_timeout: {
    limit: "runMs",
    description: "Seconds one run may take",
    minimum: 1,
    maximum: 7 * DAY,
    scale: 1000,
  },
  run_silence: {
    limit: "runSilenceMs",
    description:
      "Seconds an agent may go without an event while it sends keep-alive comments; at least its idle_timeout",
    minimum: 1,
    maximum: DAY,
    scale: 1000,
  },
  run_events: {
    limit: "runEvents",
    description: "Events an agent may send in one run",
    minimum: 1,
    maximum: 1_000_000_000,
  },
  run_bytes: {
    limit: "runBytes",
    description: "Bytes an agent may send in one run",
    minimum: 1024,
    maximum: 1024 * 1_073_741_824,
  },
  encrypted_value_bytes: {
    limit: "encryptedBytes",
    description: "Bytes of one encrypted value (reasoning, signatures) of an agent",
    minimum: 256,
    maximum: MAX_CLIENT_BYTES,
  },
  event_values: {
    limit: "eventValues",
    description:
      "JSON values of one event of an agent; while one event is judged, every other run waits",
    minimum: 1000,
    maximum: 10_000_000,
  },
} as const satisfies Record<string, Bound>;

function schemaOf({ limit, description, minimum, maximum, scale = 1 }: Bound): JsonSchema {
  return {
    type: scale === 1 ? "integer" : "number",
    description,
    minimum,
    maximum,
    default: DEFAULT_LISTEN_LIMITS[limit] / scale,
  };
}

/** The schema of `limits`. */
export const LIMITS_SCHEMA: JsonSchema = closed("Bounds of the listener; all are on", {
  trusted_proxies: list(
    "Networks whose X-Forwarded-For is believed; this machine when left out",
    text("Network, such as 10.0.0.0/8", 64),
    256,
  ),
  ...Object.fromEntries(Object.entries(NUMBERS).map(([name, bound]) => [name, schemaOf(bound)])),
});

/** Rules about limits that the schema cannot express. */
export function checkLimits(
  block: LimitsBlock | undefined,
  issue: (pointer: string, message: string) => void,
): void {
  block?.trusted_proxies?.forEach((network, index) => {
    if (isNetwork(network)) return;
    issue(`/limits/trusted_proxies/${index}`, "not an address or a network such as 10.0.0.0/8");
  });
}

/** Fills in the defaults of the block. */
export function resolveListenLimits(block: LimitsBlock | undefined): ListenLimits {
  const given: Partial<Record<NumberLimit, number>> = {};
  for (const [name, bound] of Object.entries(NUMBERS) as [keyof typeof NUMBERS, Bound][]) {
    const value = block?.[name];
    if (value !== undefined) given[bound.limit] = value * (bound.scale ?? 1);
  }
  const proxies = block?.trusted_proxies;
  return {
    ...DEFAULT_LISTEN_LIMITS,
    ...given,
    ...(proxies === undefined ? {} : { trustedProxies: proxies }),
  };
}
