import { CountersignError } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { createProtoDecoder, encodeProto } from "@countersign/wire/proto";
import type { HttpEncoding } from "./http-sink.js";
import type { ReceiptRequest } from "../outbound/record/receipt-chain.js";
import "../base/errors.js";
import type { HttpRequest } from "./exchange.js";

/** The header by which a client requests the receipts of its events; URLs use `?receipts=1`. */
export const RECEIPTS_HEADER = "countersign-receipts";

/**
 * Whether a client requests receipts, by header or by query.
 *
 * @throws CountersignError `ERR_RECEIPTS_QUESTION`: a client with an invalid value must not believe that it gets
 * receipts
 */
export function receiptRequestOf(
  request: HttpRequest,
  url: URL,
  encoding: HttpEncoding = "sse",
): ReceiptRequest | undefined {
  const asked = url.searchParams.get("receipts") ?? request.headers[RECEIPTS_HEADER];
  if (asked === undefined || asked === "0") return undefined;
  if (asked === "1") return encoding === "proto" ? { readBack: throughProto } : {};
  throw new CountersignError(
    "ERR_RECEIPTS_QUESTION",
    `${RECEIPTS_HEADER}, or receipts in the address, must be 1 or 0`,
    {},
  );
}

/** Protobuf cannot encode some empty lists or null. The client must be able to verify the event that it decodes. */
function throughProto(event: AgUiEvent): AgUiEvent {
  const [read] = createProtoDecoder().push(encodeProto(event));
  return (read ?? event) as AgUiEvent;
}
