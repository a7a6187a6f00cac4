import { startServer } from "./bare-server.js";
import { startCountersign } from "./countersign.js";
import { hasNginx, startNginx } from "./nginx.js";
import type { CountersignMode, Variant } from "./variant.js";

const DIRECT: Variant = {
  id: "direct",
  label: "direct",
  start: async ({ agentPort }) => ({
    target: { port: agentPort, path: "/" },
    pids: () => [],
    stop: async () => {},
  }),
};

const bare = (id: "pipe" | "flushing-pipe" | "recording-pipe", label: string): Variant => ({
  id,
  label,
  start: (place) => startServer(id, place),
});

const countersign = (id: CountersignMode, label: string): Variant => ({
  id,
  label,
  start: (place) => startCountersign(id, place),
});

/** All compared variants; nginx only if it is, or can be, installed. */
export function listVariants(): Variant[] {
  return [
    DIRECT,
    bare("pipe", "bare Node pipe"),
    bare("flushing-pipe", "pipe that flushes"),
    bare("recording-pipe", "pipe that records"),
    ...(hasNginx() ? [{ id: "nginx", label: "nginx", start: startNginx } satisfies Variant] : []),
    countersign("observe", "Countersign observe"),
    countersign("enforce-each", "Countersign enforce, each"),
    countersign("enforce-batch", "Countersign enforce, batch"),
  ];
}
