export { AgentProvider, RenderHint, useAgent, useAgentSelector } from "./binding.js";
export type { Agent, AgentProviderProps, RenderHintProps } from "./binding.js";
