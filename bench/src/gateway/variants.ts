import { startServer } from "./bare-server.js";
import { startCountersign } from "./countersign.js";
import { hasNginx, startNginx } from "./nginx.js";
import type { Setup, Variant } from "./variant.js";

const DIRECT: Variant = {
  id: "direct",
  label: "direct",
  parts: ["rates"],
  start: async ({ agentPort }) => ({
    target: { port: agentPort, path: "/" },
    pids: () => [],
    stop: async () => {},
  }),
};

type Named = Pick<Variant, "id" | "label" | "parts">;

const pipe = (named: Named, setup: Setup = {}): Variant => ({
  ...named,
  start: (place) => startServer("pipe", { ...place, ...setup }),
});

const countersign = (named: Named, setup: Setup = {}): Variant => ({
  ...named,
  start: (place) => startCountersign({ ...place, ...setup }),
});

const NGINX: Variant = { id: "nginx", label: "nginx", parts: ["rates"], start: startNginx };

/** All compared variants; nginx only if it is, or can be, installed. */
export function listVariants(): Variant[] {
  const [all, live] = [["rates", "kinds", "holding"], ["live"]] as const;
  const tls = { transport: "tls" } as const;
  const websocket = { transport: "websocket" } as const;
  return [
    DIRECT,
    pipe({ id: "pipe", label: "bare Node pipe", parts: [...all, ...live] }),
    {
      id: "recording-pipe",
      label: "pipe that records",
      parts: ["rates"],
      start: (place) => startServer("recording-pipe", place),
    },
    ...(hasNginx() ? [NGINX] : []),
    countersign(
      { id: "enforce-each", label: "Countersign, each", parts: ["rates", "live"] },
      { sign: "each" },
    ),
    countersign({ id: "enforce-batch", label: "Countersign, batch", parts: all }),
    pipe({ id: "pipe-websocket", label: "bare WebSocket relay", parts: live }, websocket),
    countersign(
      { id: "enforce-websocket", label: "Countersign, WebSocket", parts: live },
      websocket,
    ),
    pipe({ id: "pipe-tls", label: "bare pipe, TLS", parts: live }, tls),
    countersign({ id: "enforce-tls", label: "Countersign, TLS", parts: live }, tls),
    countersign(
      { id: "enforce-postgres", label: "Countersign, PostgreSQL", parts: live },
      { store: "postgres" },
    ),
  ];
}
