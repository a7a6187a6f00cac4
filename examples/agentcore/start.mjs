import { startAgent } from "./agent.mjs";
import { startInFront } from "./gateway.mjs";

const agent = await startAgent(0);
const gateway = await startInFront(agent.url);
const token = await gateway.tokenFor("ada");
const body = JSON.stringify({
  threadId: "t1",
  runId: "r1",
  messages: [{ id: "m1", role: "user", content: "open my account" }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});
process.stdout.write(`agent    ${agent.url} (nobody but the gateway should reach it)
gateway  ${gateway.url}

A run as AgentCore would bring it; the agent also tries to lead the person elsewhere, which stays behind:

curl -N ${gateway.url}/invocations -H 'content-type: application/json' \\
  -H 'x-amzn-bedrock-agentcore-runtime-session-id: 52ed4489-0000-4000-8000-example000001' \\
  -H 'authorization: Bearer ${token}' \\
  -d '${body}'

What stayed behind, until this ends:

npx countersign receipts list --blocked --store sqlite:${gateway.receipts}
`);
const stop = async () => {
  await gateway.close();
  await agent.close();
};
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop());
