import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The first chunk of a stream lacks the id or name that opens it. */
    ERR_CHUNK_FIRST_INCOMPLETE: { type: string; field: string; eventNumber: number };
    /** A continuation repeats a field of its opener with another value. */
    ERR_CHUNK_CONFLICT: { type: string; field: string; eventNumber: number };
    /** A chunk names neither id nor lane while several lanes could continue. */
    ERR_CHUNK_AMBIGUOUS: { type: string; lanes: number; eventNumber: number };
    /** More lanes are assembling at once than allowed. */
    ERR_CHUNK_TOO_MANY_LANES: { limit: number; eventNumber: number };
    /** The ids and names of the open streams take more memory than allowed. */
    ERR_CHUNK_HELD_TOO_LARGE: { limit: number; eventNumber: number };
  }
}

/** The codes that chunk expansion throws. */
export type ChunkErrorCode = Extract<ErrorCode, `ERR_CHUNK_${string}`>;
