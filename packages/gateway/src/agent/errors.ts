import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The agent could not be reached, or the connection broke before it answered. */
    ERR_UPSTREAM_UNREACHABLE: { agent: string; reason: string };
    /** The agent answered with a status that opens no stream. */
    ERR_UPSTREAM_STATUS: { agent: string; status: number };
    /** The agent answered 200 with something that is not an AG-UI stream. */
    ERR_UPSTREAM_NOT_A_STREAM: { agent: string; contentType: string };
    /** The agent stayed silent longer than the limit. */
    ERR_UPSTREAM_TIMEOUT: { agent: string; phase: "answer" | "idle"; milliseconds: number };
    /** The agent compressed its stream although nothing was asked for. */
    ERR_UPSTREAM_ENCODING: { agent: string; encoding: string };
    /** The connection broke off in the middle of the stream. */
    ERR_UPSTREAM_BROKEN: { agent: string; reason: string };
  }
}
