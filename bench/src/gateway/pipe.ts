/** The minimum of a Node proxy: parse HTTP, inspect nothing, forward every piece. */
import { answerCalls } from "./peer.js";
import { startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

const calls: ServerCalls = {
  start: (agentPort) => startProxy(agentPort, (answered, response) => answered.pipe(response)),
};

answerCalls(calls);
