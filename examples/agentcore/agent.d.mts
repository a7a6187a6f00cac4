/** The agent as AgentCore would host it, on a port of this machine; 0 takes a free one. */
export function startAgent(port: number): Promise<{ url: string; close(): Promise<void> }>;
