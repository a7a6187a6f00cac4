/** The header under which AgentCore, its clients and its agents name a session; ours goes by the same name. */
export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";
