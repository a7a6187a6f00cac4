import { isCountersignError, parseUrl } from "@countersign/core";
import { choice, closed, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { NOTE_COSIGNATURE, parseVkey } from "@countersign/receipts";
import { seconds } from "./access.js";
import type { OnMissing, TimestampsConfig, WitnessesConfig } from "./config.js";

/** `receipts.witnesses` as it is written. */
export type WitnessesBlock = {
  threshold: number;
  list: { vkey: string; url: string }[];
  interval?: number;
  timeout?: number;
  max_age?: number;
  on_missing?: OnMissing;
  at_start?: "ask" | "skip";
};

/** `receipts.timestamps` as it is written. */
export type TimestampsBlock = { url: string; ca: string; interval?: number; timeout?: number };

const MAX_WITNESSES = 32;

/** The schema of `receipts.witnesses`. */
export const WITNESSES_SCHEMA: JsonSchema = closed(
  "Witnesses that cosign checkpoints (C2SP tlog-witness); none when left out",
  {
    threshold: {
      type: "integer",
      description: "How many of them must cosign a checkpoint",
      minimum: 1,
      maximum: MAX_WITNESSES,
    },
    list: list(
      "The witnesses",
      closed(
        "One witness",
        {
          vkey: text("Its key, as countersign witness show prints it: NAME+ID+KEY", 2048),
          url: text("Address below which it serves add-checkpoint", 2048),
        },
        ["vkey", "url"],
      ),
      MAX_WITNESSES,
    ),
    interval: seconds("Seconds between two rounds of requests; 30 when left out", 0.1, 3600),
    timeout: seconds("Seconds a witness may take to respond; 10 when left out", 0.1, 60),
    max_age: seconds(
      "Seconds the log may have entries that no witnessed checkpoint covers; 600 when left out",
      1,
      604_800,
    ),
    on_missing: choice(
      "After that time the gateway reports it, or also stops to forward events; report when left out",
      ["report", "stop"],
    ),
    at_start: choice(
      "Whether a start asks the witnesses for their newest checkpoint, and fails if the store lacks it; ask when left out",
      ["ask", "skip"],
    ),
  },
  ["threshold", "list"],
);

/** The schema of `receipts.timestamps`. */
export const TIMESTAMPS_SCHEMA: JsonSchema = closed(
  "A timestamp authority that dates checkpoints (RFC 3161); none when left out",
  {
    url: text("Address of the authority", 2048),
    ca: text("Path of the PEM file with the certificates that you trust for it", 4096),
    interval: seconds("Seconds between two timestamps; 3600 when left out", 1, 604_800),
    timeout: seconds("Seconds the authority may take to respond; 10 when left out", 0.1, 60),
  },
  ["url", "ca"],
);

/** Checks the keys, the addresses and the threshold. */
export function checkWitnesses(
  witnesses: WitnessesBlock | undefined,
  timestamps: TimestampsBlock | undefined,
  issue: (pointer: string, message: string) => void,
): void {
  if (timestamps !== undefined) checkUrl("/receipts/timestamps/url", timestamps.url, issue);
  if (witnesses === undefined) return;
  const at = "/receipts/witnesses";
  const materials = new Set<string>();
  witnesses.list.forEach(({ vkey, url }, index) => {
    checkUrl(`${at}/list/${index}/url`, url, issue);
    const fault = faultOf(vkey, materials);
    if (fault !== undefined) issue(`${at}/list/${index}/vkey`, fault);
  });
  if (witnesses.threshold > witnesses.list.length) {
    const { length } = witnesses.list;
    const message = `threshold is ${witnesses.threshold}, but list has ${length} ${length === 1 ? "witness" : "witnesses"}`;
    issue(`${at}/threshold`, message);
  }
}

function faultOf(vkey: string, materials: Set<string>): string | undefined {
  try {
    const { type, publicKey } = parseVkey(vkey);
    if (type !== NOTE_COSIGNATURE) {
      return "vkey is the key of a log; a witness has a key of type 4, as countersign witness show prints it";
    }
    const material = Buffer.from(publicKey).toString("hex");
    if (materials.has(material)) return "vkey has the key of another witness of the list";
    materials.add(material);
    return undefined;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return `vkey cannot be used: ${error.message}`;
  }
}

function checkUrl(
  pointer: string,
  written: string,
  issue: (pointer: string, message: string) => void,
): void {
  const url = parseUrl(written);
  if (url === undefined || !/^https?:$/u.test(url.protocol)) {
    issue(pointer, "url must start with http:// or https://");
  } else if (url.username !== "" || url.password !== "") {
    issue(pointer, "url must not have a user name or a password");
  }
}

/** The witnesses with their defaults. */
export function resolveWitnesses(block: WitnessesBlock | undefined): WitnessesConfig | undefined {
  if (block === undefined) return undefined;
  return {
    threshold: block.threshold,
    list: block.list,
    intervalMs: (block.interval ?? 30) * 1000,
    timeoutMs: (block.timeout ?? 10) * 1000,
    maxAgeMs: (block.max_age ?? 600) * 1000,
    onMissing: block.on_missing ?? "report",
    asksAtStart: block.at_start !== "skip",
  };
}

/** The timestamp authority with its defaults. */
export function resolveTimestamps(
  block: TimestampsBlock | undefined,
  path: (value: string) => string,
): TimestampsConfig | undefined {
  if (block === undefined) return undefined;
  return {
    url: block.url,
    caFile: path(block.ca),
    intervalMs: (block.interval ?? 3600) * 1000,
    timeoutMs: (block.timeout ?? 10) * 1000,
  };
}
