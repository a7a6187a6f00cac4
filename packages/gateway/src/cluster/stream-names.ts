import { decodeBase64Url, encodeBase64Url, sha256 } from "@countersign/core";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const TAG_BYTES = 6;
/** Unguessable, so that without access control only the stream's own client can resume it. */
const RANDOM_BYTES = 12;
const SEAL_BYTES = 6;
const NAME = /^[\w-]{32}$/u;

/** Names of streams, from which the gateways of one log can tell which of them has the stream. */
export type StreamNames = {
  /** Creates the name of a new stream at this gateway. */
  create(): string;
  /** The {@link tagOf} the gateway that made a name; `undefined` for one that no gateway of the log made. */
  gatewayOf(name: string): string | undefined;
};

/** Identifies a gateway in the names of its streams, so that clients do not see host names. */
export function tagOf(gateway: string): string {
  return encodeBase64Url(sha256(gateway).subarray(0, TAG_BYTES));
}

/** Creates stream names under one key. The key alone exposes forged names, so that they cost no query. */
export function createStreamNames(key: Uint8Array, gateway: string): StreamNames {
  const tag = decodeBase64Url(tagOf(gateway));
  const sealOf = (body: Uint8Array): Uint8Array =>
    createHmac("sha256", key).update(body).digest().subarray(0, SEAL_BYTES);
  return {
    create: () => {
      const body = Buffer.concat([tag, randomBytes(RANDOM_BYTES)]);
      return encodeBase64Url(Buffer.concat([body, sealOf(body)]));
    },
    gatewayOf: (name) => {
      if (!NAME.test(name)) return undefined;
      const bytes = decodeBase64Url(name);
      const body = bytes.subarray(0, -SEAL_BYTES);
      if (!timingSafeEqual(bytes.subarray(-SEAL_BYTES), sealOf(body))) return undefined;
      return encodeBase64Url(body.subarray(0, TAG_BYTES));
    },
  };
}
