export { createHardenedAgent } from "./hardened/agent.js";
export type { PeerAddresses } from "./peers.js";
export { serveAgent } from "./serve.js";
export type { RunningAgent } from "./serve.js";
export type { AgentAnswer, AgentLogic, AgentOptions, AgentRequest } from "./turn.js";
export { createVulnerableAgent } from "./vulnerable/agent.js";
