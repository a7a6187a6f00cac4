export { createHardenedAgent } from "./hardened/agent.js";
export { createAddressBook } from "./peers.js";
export type { AddressBook, PeerAddresses } from "./peers.js";
export { serveAgent } from "./serve.js";
export type { RunningAgent } from "./serve.js";
export type { AgentAnswer, AgentLogic, AgentOptions, AgentRequest } from "./turn.js";
export { createVulnerableAgent } from "./vulnerable/agent.js";
