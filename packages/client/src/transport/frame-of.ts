import { classifySseData } from "@countersign/wire/sse";
import type { SseMessage } from "@countersign/wire/sse";
import type { Frame } from "./transport.js";

/** The frame in a message, or none when it is one of the fillers that servers keep streams alive with. */
export function frameOf({ data, id, retry }: SseMessage): Frame[] {
  if (classifySseData(data) !== "event") return [];
  return [
    {
      json: data,
      ...(id === undefined ? {} : { id }),
      ...(retry === undefined ? {} : { retry }),
    },
  ];
}
