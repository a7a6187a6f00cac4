import type { ClientSink } from "../event/sink.js";

/** A client sink that accepts everything and keeps nothing. */
export const SILENT_SINK: ClientSink = {
  transport: "sse",
  isSlow: false,
  send: () => {},
  drained: () => Promise.resolve(),
  heartbeat: () => {},
  end: () => {},
};
