import type { ClientSink } from "../event/sink.js";

/** A person's end that takes everything and shows nothing. */
export const SILENT_SINK: ClientSink = {
  transport: "sse",
  isSlow: false,
  send: () => {},
  drained: () => Promise.resolve(),
  heartbeat: () => {},
  end: () => {},
};
