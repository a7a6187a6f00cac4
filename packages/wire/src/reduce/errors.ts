import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A JSON Patch, or the document it makes, goes over a bound. */
    ERR_PATCH_TOO_LARGE: {
      limit: "maxOperations" | "maxSize" | "maxDepth" | "maxWork";
      allowed: number;
      operation: number;
    };
    /** The conversation a stream builds goes over a bound. */
    ERR_REDUCE_TOO_LARGE: {
      limit: "maxMessages" | "maxCharacters" | "maxMetadataKeys" | "maxUnits";
      allowed: number;
    };
  }
}

/** The codes that reduction throws. */
export type ReduceErrorCode = Extract<ErrorCode, `ERR_PATCH_${string}` | `ERR_REDUCE_${string}`>;
