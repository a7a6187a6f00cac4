import { parseUrl } from "@countersign/core";
import { choice, closed, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import type { OtlpLogs } from "../telemetry/log-exporter.js";
import type { GatewayConfig, WebhookConfig, WebhookEvents } from "./config.js";
import { expandHeaders } from "./reading.js";
import type { Reading } from "./reading.js";

const WEBHOOK_EVENTS: readonly WebhookEvents[] = ["denials", "would_block", "health"];

/** A collector as it is written. */
export type CollectorBlock = { endpoint: string; headers?: Record<string, string> };

/** A webhook as it is written. */
export type WebhookBlock = {
  url: string;
  secret_file: string;
  events?: WebhookEvents[];
  headers?: Record<string, string>;
};

/** The blocks that name receivers of what the gateway sends by itself. */
export type OutgoingBlocks = {
  tracing?: CollectorBlock & { service?: string };
  log?: { otlp?: CollectorBlock };
  webhook?: WebhookBlock;
};

const headersOf = (receiver: string): JsonSchema => ({
  type: "object",
  description: `Sent to the ${receiver}; \${NAME} takes the value of an environment variable`,
  additionalProperties: text("Header value", 8192),
  maxProperties: 16,
});

/** The schema of `tracing`. */
export const TRACING_SCHEMA: JsonSchema = closed(
  "One span per run to an OpenTelemetry collector; off when left out",
  {
    endpoint: text("Address of the collector, OTLP over HTTP, usually …:4318/v1/traces", 2048),
    service: text("Name of the service in its traces and logs"),
    headers: headersOf("collector"),
  },
  ["endpoint"],
);

/** The schema of `log.otlp`. */
export const LOGS_SCHEMA: JsonSchema = closed(
  "Every line of the log also to an OpenTelemetry collector; off when left out",
  {
    endpoint: text("Address of the collector, OTLP over HTTP, usually …:4318/v1/logs", 2048),
    headers: headersOf("collector"),
  },
  ["endpoint"],
);

/** The schema of `webhook`. */
export const WEBHOOK_SCHEMA: JsonSchema = closed(
  "Signed events in OCSF for a SIEM or an on-call system; off when left out",
  {
    url: text("Address that gets the events", 2048),
    secret_file: text(
      "Path of the file with the secret, whsec_BASE64; a second line is the old one while it is replaced",
      4096,
    ),
    events: list(
      "Which events are sent; denials and health when left out",
      choice("Kind", WEBHOOK_EVENTS),
      WEBHOOK_EVENTS.length,
    ),
    headers: headersOf("receiver"),
  },
  ["url", "secret_file"],
);

/** Checks the addresses to which the gateway sends by itself. The operator chose them, so any network is allowed. */
export function checkOutgoing(
  { tracing, log, webhook }: OutgoingBlocks,
  issue: (pointer: string, message: string) => void,
): void {
  const addresses = [
    ["/tracing/endpoint", tracing?.endpoint],
    ["/log/otlp/endpoint", log?.otlp?.endpoint],
    ["/webhook/url", webhook?.url],
  ] as const;
  for (const [pointer, written] of addresses) {
    if (written === undefined) continue;
    const name = pointer.slice(pointer.lastIndexOf("/") + 1);
    const url = parseUrl(written);
    if (url === undefined || !/^https?:$/u.test(url.protocol)) {
      issue(pointer, `${name} must start with http:// or https://`);
    } else if (url.username !== "" || url.password !== "") {
      issue(pointer, `${name} must not have a user name or a password; use headers`);
    }
  }
}

const SERVICE = "countersign";

/** The collector of traces, with its secrets filled in. */
export function resolveTracing(
  block: OutgoingBlocks["tracing"],
  options: Reading,
): GatewayConfig["tracing"] {
  if (block === undefined) return undefined;
  return {
    endpoint: new URL(block.endpoint),
    service: block.service ?? SERVICE,
    headers: expandHeaders(block.headers, options, "/tracing/headers"),
  };
}

/** The collector of log lines, with its secrets filled in. */
export function resolveLogs(
  { log, tracing }: OutgoingBlocks,
  options: Reading,
): OtlpLogs | undefined {
  if (log?.otlp === undefined) return undefined;
  return {
    endpoint: new URL(log.otlp.endpoint),
    service: tracing?.service ?? SERVICE,
    headers: expandHeaders(log.otlp.headers, options, "/log/otlp/headers"),
  };
}

/** The webhook, with its secrets filled in; the file of its own secret is read by the gateway. */
export function resolveWebhook(
  block: WebhookBlock | undefined,
  options: Reading,
  path: (value: string) => string,
): WebhookConfig | undefined {
  if (block === undefined) return undefined;
  return {
    url: new URL(block.url),
    secretFile: path(block.secret_file),
    events: new Set(block.events ?? ["denials", "health"]),
    headers: expandHeaders(block.headers, options, "/webhook/headers"),
  };
}
