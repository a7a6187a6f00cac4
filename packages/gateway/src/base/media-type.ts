/** Server-sent events. */
export const SSE_MEDIA_TYPE = "text/event-stream";
/** The binary form of AG-UI. */
export const PROTO_MEDIA_TYPE = "application/vnd.ag-ui.event+proto";

/** The type without its parameters, in lower case; empty when there is none. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
