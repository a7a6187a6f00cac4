/** The session header of AgentCore, its clients and its agents; the gateway uses the same name. */
export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";
