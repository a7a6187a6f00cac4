import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../base/ports.js";
import { createExporter, postJson } from "./exporter.js";
import type { Exporter, Receiver } from "./exporter.js";
import type { OcsfEvent } from "./ocsf.js";

/** Options of {@link createWebhook}. */
export type WebhookOptions = Receiver & {
  /** Reads the secrets for each request, so that a replaced file takes effect at once; the first is the newest. */
  readSecrets(): readonly Uint8Array[];
  readonly clock: Clock;
  /** Waits before the next attempt; ends early when the signal is aborted. */
  readonly pause?: (milliseconds: number, closing: AbortSignal) => Promise<unknown>;
  /** Called when an attempt failed and another one follows. */
  onRetry(reason: string): void;
  onFailure(reason: string, events: number): void;
};

/** About 20 kB, the size that the specification recommends for a body. */
const BATCH_SIZE = 20;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** How long one batch is retried; the receipts have every decision anyway. */
const GIVE_UP_MS = 3_600_000;
/** 410: the receiver wants no more. */
const GONE = "status 410";

/** The `type` of a body; its `data` is a list of OCSF events. */
const BODY_TYPE = "countersign.ocsf";

/**
 * Sends events to a webhook, signed by the Standard Webhooks specification 1.0.
 *
 * A retry has the same `webhook-id` and a new timestamp: a receiver rejects an old timestamp, and an id that it has seen.
 */
export function createWebhook(options: WebhookOptions): Exporter<OcsfEvent> {
  const { clock, pause = pauseUnlessClosing } = options;
  return createExporter<OcsfEvent>({
    batchSize: BATCH_SIZE,
    onFailure: options.onFailure,
    send: async (events, closing) => {
      const id = `msg_${randomUUID().replaceAll("-", "")}`;
      const startedAt = clock.now();
      const timestamp = new Date(startedAt).toISOString();
      const body = JSON.stringify({ type: BODY_TYPE, timestamp, data: events });
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
        const reason = await attempt(options, id, body);
        if (reason === undefined) return undefined;
        const isOver = Math.abs(clock.now() - startedAt) >= GIVE_UP_MS;
        if (isOver || reason === GONE || closing.aborted) return reason;
        options.onRetry(reason);
        // Jitter: gateways whose receiver comes back must not all send at once.
        await pause(pauseMs * (0.5 + Math.random() / 2), closing);
      }
    },
  });
}

async function attempt(
  options: WebhookOptions,
  id: string,
  body: string,
): Promise<string | undefined> {
  const timestamp = String(Math.floor(options.clock.now() / 1000));
  let signatures: string;
  try {
    signatures = options
      .readSecrets()
      .map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`))
      .join(" ");
  } catch {
    return "the secret cannot be read";
  }
  const headers = {
    ...options.headers,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures,
  };
  return postJson({ endpoint: options.endpoint, headers }, body);
}

function signatureOf(secret: Uint8Array, text: string): string {
  return `v1,${createHmac("sha256", secret).update(text).digest("base64")}`;
}

async function pauseUnlessClosing(milliseconds: number, signal: AbortSignal): Promise<void> {
  // An aborted pause rejects; the sender then makes its last attempt.
  await wait(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

const PREFIX = "whsec_";
/** Bytes of a secret that the specification allows. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
/** The new secret and the old one, while a receiver changes. */
const MAX_SECRETS = 2;

/** Reads the secrets of a file: one line each, the newest first. Throws a `TypeError` without any part of a secret. */
export function parseWebhookSecrets(text: string): readonly Uint8Array[] {
  const lines = text.split("\n").map((line) => line.trim());
  const written = lines.filter((line) => line !== "");
  const secrets = written.map((line) => Buffer.from(line.slice(PREFIX.length), "base64"));
  const isSound = written.every((line, index) => {
    const { byteLength = 0 } = secrets[index] ?? {};
    return (
      line === `${PREFIX}${secrets[index]?.toString("base64")}` &&
      byteLength >= MIN_SECRET_BYTES &&
      byteLength <= MAX_SECRET_BYTES
    );
  });
  if (!isSound || secrets.length === 0 || secrets.length > MAX_SECRETS) {
    throw new TypeError(
      "a webhook secret is one line, or two while it is replaced: whsec_ and 24 to 64 bytes in Base64",
    );
  }
  return secrets;
}
