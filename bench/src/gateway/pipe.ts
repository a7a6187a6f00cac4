/** The least a Node proxy can do: parse HTTP, look at nothing, pass every piece on. */
import { answerCalls } from "./peer.js";
import { startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

const calls: ServerCalls = {
  start: (agentPort) => startProxy(agentPort, (answered, response) => answered.pipe(response)),
};

answerCalls(calls);
