import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The bytes of a frame are not a protobuf message. */
    ERR_PROTO_MALFORMED: { offset: number };
    /** A string holds bytes that are not UTF-8. */
    ERR_PROTO_INVALID_UTF8: { offset: number };
    /** A known field came under a wire type that is not its own. */
    ERR_PROTO_WIRE_TYPE: { offset: number; message: string; field: number };
    /** A frame of length zero, as encoders write for an event type they do not know. */
    ERR_PROTO_EMPTY_FRAME: { offset: number };
    /** The stream ended inside a frame. */
    ERR_PROTO_TRUNCATED: { offset: number; pending: number };
    /** The envelope names no event, neither one of ours nor a later one. */
    ERR_PROTO_NO_EVENT: { offset: number };
    /** An envelope, a content part or a source names two alternatives. */
    ERR_PROTO_SEVERAL_ARMS: { offset: number; message: string };
    /** An event without the part that every event has. */
    ERR_PROTO_BASE_MISSING: { offset: number; eventType: string };
    /** The envelope and the base event name different types. */
    ERR_PROTO_TYPE_MISMATCH: { offset: number; eventType: string; declared: string };
    /** Content rides twice, or in a field that the role does not use. */
    ERR_PROTO_CONTENT_CARRIER: { offset: number; reason: string };
    /** A `Value` that is not a JSON value. */
    ERR_PROTO_VALUE: { offset: number; reason: "not-finite" | "no-kind" | "duplicate-key" };
    /** An integer beyond what JSON readers keep exactly. */
    ERR_PROTO_UNSAFE_INTEGER: { offset: number; field: string };
    /** An event that protobuf cannot carry as it is. */
    ERR_PROTO_UNENCODABLE: { path: string; reason: string };
  }
}

/** The codes of this codec; limits come as `ERR_LIMIT_EXCEEDED`. */
export type ProtoErrorCode = Extract<ErrorCode, `ERR_PROTO_${string}`>;
