import { decodeBase64Url, encodeBase64Url } from "@countersign/core";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { RedisConnections } from "../store/redis/open-redis.js";

/** Unguessable, so that without access control only the stream's own client can resume it. */
const RANDOM_BYTES = 18;
const SEAL_BYTES = 6;
const NAME = /^[\w-]{32}$/u;

/** Names of streams, which only the gateways of one log can create. */
export type StreamNames = {
  /** Creates the name of a new stream. */
  create(): string;
  /** Whether a gateway of the log created the name: an invented one costs one hash and no query. */
  isOwn(name: string): boolean;
};

/** Creates stream names under one key. */
export function createStreamNames(key: Uint8Array): StreamNames {
  const sealOf = (body: Uint8Array): Uint8Array =>
    createHmac("sha256", key).update(body).digest().subarray(0, SEAL_BYTES);
  return {
    create: () => {
      const body = randomBytes(RANDOM_BYTES);
      return encodeBase64Url(Buffer.concat([body, sealOf(body)]));
    },
    isOwn: (name) => {
      if (!NAME.test(name)) return false;
      const bytes = decodeBase64Url(name);
      return timingSafeEqual(bytes.subarray(-SEAL_BYTES), sealOf(bytes.subarray(0, -SEAL_BYTES)));
    },
  };
}

/** The keys of a stream, at one node of a Cluster. */
export function keysOf(redis: RedisConnections, stream: string): [string, string, string] {
  const tag = `stream/${stream}`;
  return [redis.key(tag, "events"), redis.key(tag, "facts"), redis.key(tag, "taken")];
}
