import { createGateway } from "@countersign/gateway";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakeScript } from "@countersign/testkit";
import type { AddressInfo } from "node:net";

/** The parts of a gateway. */
export type GatewayParts = Parameters<typeof createGateway>[0];

/** A real gateway in front of a scripted agent. */
export type ChatGateway = {
  readonly gateway: ReturnType<typeof createGateway>;
  readonly agent: FakeAgent;
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly address: string;
  stop(): Promise<void>;
};

const POLICY = `hushspec: "0.1.0"
name: chat
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { enabled: true, default: allow }
`;

/** Signs for nothing, and says that it did. */
function createRecorder(): GatewayParts["recorder"] {
  let seq = 0;
  return {
    appendAll: async (drafts) =>
      drafts.map(({ receipt }) => ({ seq: seq++, id: `agui-${receipt.event_id}` })),
  };
}

/** Starts both; `parts` replaces what a gateway is otherwise made of. */
export async function startChatGateway(
  script: FakeScript,
  parts: Partial<GatewayParts> = {},
): Promise<ChatGateway> {
  const agent = await startFakeAgent(script);
  const gateway = createGateway({
    agents: [
      {
        name: "support",
        url: new URL(agent.url),
        transport: "post-sse",
        headers: {},
        frames: "json",
        dialect: "auto",
        answerTimeoutMs: 5000,
        idleTimeoutMs: 5000,
      },
    ],
    policy: createPolicyHolder(compilePolicy(loadPolicy(POLICY))),
    recorder: createRecorder(),
    ...parts,
  });
  await new Promise<void>((resolve) => gateway.dataPlane.listen(0, "127.0.0.1", resolve));
  const { port } = gateway.dataPlane.address() as AddressInfo;
  return {
    gateway,
    agent,
    port,
    address: `127.0.0.1:${port}`,
    stop: async () => {
      await gateway.close();
      await agent.stop();
    },
  };
}
