import type { FeedItem } from "@countersign/core";
import { readRegularFile } from "../base/files.js";
import type { Clock, Journal } from "../base/ports.js";
import type { WebhookConfig } from "../config/config.js";
import type { OpenAttesting, OpenPolicy, OpenTokens } from "../control/ports.js";
import type { Feed } from "../telemetry/feed.js";
import { conditionEvent, denialEvent, lifecycleEvent } from "../telemetry/ocsf.js";
import type { Condition, OcsfSource } from "../telemetry/ocsf.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { createWebhook, parseWebhookSecrets } from "../telemetry/webhook.js";
import type { Gateway } from "./gateway.js";
import type { IssuerKeys } from "./open-access.js";

/** The webhook of a running gateway. */
export type OpenWebhook = {
  /** Events that the receiver has, and events that were lost. */
  readonly events: { readonly exported: number; readonly dropped: number };
  /** Starts to report; called when the gateway listens. */
  start(): void;
  /** Reports the stop and sends the last events. */
  close(): Promise<void>;
};

/** The parts of a gateway that a webhook reports about. */
export type WebhookParts = {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly source: OcsfSource;
  readonly feed: Pick<Feed, "listen">;
  /** The conditions that hold now. */
  conditions(): readonly Condition[];
};

/** Milliseconds between two looks at the conditions. */
const INTERVAL_MS = 1000;
const MAX_SECRET_FILE_BYTES = 4096;

/** Reads the secrets of a webhook; an error names the file and nothing of its content. */
export function readWebhookSecrets({ secretFile }: Pick<WebhookConfig, "secretFile">) {
  const text = readRegularFile(secretFile, MAX_SECRET_FILE_BYTES).toString("utf8");
  try {
    return parseWebhookSecrets(text);
  } catch (error) {
    throw new TypeError(`${secretFile}: ${(error as Error).message}`, { cause: error });
  }
}

/** Opens the webhook of a configuration, whose secret was read before. */
export function openWebhook(
  config: WebhookConfig | undefined,
  parts: WebhookParts,
): OpenWebhook | undefined {
  if (config === undefined) return undefined;
  const { clock, journal, source } = parts;
  const { host } = config.url;
  const webhook = createWebhook({
    endpoint: config.url,
    headers: config.headers,
    readSecrets: () => readWebhookSecrets(config),
    clock,
    onRetry: (reason) =>
      journal.warn({ code: "WEBHOOK_RETRIED", host, reason }, "the webhook did not accept events"),
    onFailure: (reason, events) =>
      journal.error({ code: "WEBHOOK_DROPPED", host, reason, events }, "events were not delivered"),
  });
  const reportsHealth = config.events.has("health");
  const since = new Map<string, { readonly condition: Condition; readonly at: number }>();
  const look = (): void => {
    const now = clock.now();
    const holding = new Map(parts.conditions().map((condition) => [condition.name, condition]));
    for (const [name, condition] of holding) {
      if (since.has(name)) continue;
      since.set(name, { condition, at: now });
      webhook.add(conditionEvent(condition, { since: now }, source));
    }
    for (const [name, { condition, at }] of since) {
      if (holding.has(name)) continue;
      since.delete(name);
      webhook.add(conditionEvent(condition, { since: at, endedAt: now }, source));
    }
  };
  let stop = (): void => {};
  return {
    get events() {
      return { exported: webhook.exported, dropped: webhook.dropped };
    },
    start: () => {
      const unlisten = parts.feed.listen((item) => {
        if (isReported(item, config)) webhook.add(denialEvent(item, source));
      });
      if (reportsHealth) webhook.add(lifecycleEvent("start", clock.now(), source));
      const timer = reportsHealth ? setInterval(look, INTERVAL_MS).unref() : undefined;
      stop = () => {
        unlisten();
        clearInterval(timer);
        if (reportsHealth) webhook.add(lifecycleEvent("stop", clock.now(), source));
      };
    },
    close: async () => {
      stop();
      stop = () => {};
      await webhook.close();
    },
  };
}

function isReported(item: FeedItem, { events }: WebhookConfig): boolean {
  if (!item.allowed) return events.has("denials");
  return item.rule !== undefined && events.has("would_block");
}

/** The conditions of a gateway that its metrics show, too. */
export function conditionsOf(parts: {
  readonly gateway: Gateway;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly telemetry: Telemetry;
  readonly keySets: readonly IssuerKeys[];
  readonly attesting: OpenAttesting;
}): readonly Condition[] {
  const { gateway, policy, tokens, telemetry, attesting } = parts;
  const isStopping = gateway.context.drain.isLeaving;
  const found: (Condition & { readonly holds: boolean })[] = [
    {
      name: "not_ready",
      title: "The gateway is not ready: receipts or threads cannot be written",
      isCritical: true,
      holds: !isStopping && !gateway.isReady(),
    },
    {
      name: "log_damaged",
      title: "The receipt log has an entry that is not what was signed",
      isCritical: true,
      holds: telemetry.scrub.damages > 0,
    },
    {
      name: "log_contradicted",
      title: "A witness says that the receipt log was rolled back or replaced",
      isCritical: true,
      holds: attesting.witnessing?.status().some(({ claim }) => claim !== undefined) === true,
    },
    {
      name: "log_unwitnessed",
      title: "Too few witnesses cosign the checkpoints of the receipt log",
      holds: attesting.isLate(),
    },
    {
      name: "timestamps_failing",
      title: "The timestamp authority does not date checkpoints",
      holds: attesting.timestamping?.failing !== undefined,
    },
    {
      name: "policy_stale",
      title: "The newest policy text does not load; the last valid policy decides",
      holds: policy.reloads.isStale,
    },
    {
      name: "revocations_stale",
      title: "Revocations of capability tokens cannot be read; known ones stay in effect",
      holds: tokens.revocations.isStale,
    },
    {
      name: "velocity_stale",
      title: "The database in which gateways count caps together does not respond",
      holds: telemetry.velocity.isSilent,
    },
    {
      name: "key_sets_stale",
      title: "The keys of an issuer of access tokens cannot be fetched",
      holds: parts.keySets.some(({ isStale }) => isStale),
    },
  ];
  return found.filter(({ holds }) => holds);
}
