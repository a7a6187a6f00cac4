import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The agent could not be reached, or the connection broke before it responded. */
    ERR_UPSTREAM_UNREACHABLE: { agent: string; reason: string };
    /** The agent responded with an error status. */
    ERR_UPSTREAM_STATUS: { agent: string; status: number };
    /** The agent responded 200 with something that is not an AG-UI stream. */
    ERR_UPSTREAM_NOT_A_STREAM: { agent: string; contentType: string };
    /** The agent was silent for longer than the limit. */
    ERR_UPSTREAM_TIMEOUT: { agent: string; phase: "answer" | "idle"; milliseconds: number };
    /** The agent compressed its stream although the gateway accepts no compression. */
    ERR_UPSTREAM_ENCODING: { agent: string; encoding: string };
    /** The connection broke in the middle of the stream. */
    ERR_UPSTREAM_BROKEN: { agent: string; reason: string };
  }
}
