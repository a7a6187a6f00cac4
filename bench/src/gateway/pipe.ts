/** The minimum of a Node proxy: parse HTTP, inspect nothing, forward every piece. */
import { serveCalls } from "./peer.js";
import { startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

const calls: ServerCalls = {
  start: (agentPort) => startProxy(agentPort, (answered, response) => answered.pipe(response)),
};

serveCalls(calls);
