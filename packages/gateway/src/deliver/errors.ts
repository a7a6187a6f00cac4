import "@countersign/core";
import type { RefusedPart } from "../inbound/errors.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The policy does not let a browser's request up. */
    ERR_INBOUND_BLOCKED: RefusedPart & { rule: string; receipt: string };
  }
}
