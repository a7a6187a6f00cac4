import {
  decodeBase64,
  encodeBase64,
  isCountersignError,
  isJsonObject,
  ownMember,
  parseJson,
} from "@countersign/core";

/** Attestations of third parties about checkpoints of a log. None is trusted until verified. */
export type Attestations = {
  /** The newest checkpoint that witnesses cosigned, with their signature lines. */
  readonly witnessed?: string;
  /** The newest checkpoint with a timestamp (RFC 3161), and the DER response. */
  readonly timestamped?: { readonly checkpoint: string; readonly response: Uint8Array };
};

/** The stored text. */
export function encodeAttestations({ witnessed, timestamped }: Attestations): string {
  return `${JSON.stringify({
    witnessed,
    timestamped: timestamped && {
      checkpoint: timestamped.checkpoint,
      response: encodeBase64(timestamped.response),
    },
  })}\n`;
}

/** Reads the stored text. An unreadable one has nothing: the next round obtains all of it again. */
export function decodeAttestations(text: string | undefined): Attestations {
  if (text === undefined) return {};
  try {
    const value = parseJson(text);
    if (!isJsonObject(value)) return {};
    const witnessed = ownMember(value, "witnessed");
    const timestamped = ownMember(value, "timestamped");
    const checkpoint = isJsonObject(timestamped) && ownMember(timestamped, "checkpoint");
    const response = isJsonObject(timestamped) && ownMember(timestamped, "response");
    return {
      ...(typeof witnessed === "string" && { witnessed }),
      ...(typeof checkpoint === "string" &&
        typeof response === "string" && {
          timestamped: { checkpoint, response: decodeBase64(response) },
        }),
    };
  } catch (error) {
    if (isCountersignError(error) || error instanceof TypeError) return {};
    throw error;
  }
}
