import { sha256Hex } from "@countersign/core";
import type { HashedDraft } from "@countersign/receipts/log";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import type { FakeRequest, FakeScript } from "@countersign/testkit";
import { startFakeAgent } from "@countersign/testkit";
import type { AddressInfo } from "node:net";
import { createGateway } from "../serve/gateway.js";
import type { Gateway, GatewayOptions } from "../serve/gateway.js";
import type { DecisionDraft, Recorder } from "../event/recorder.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** A recorder that keeps its drafts, for tests that inspect them. */
export type MemoryRecorder = {
  readonly drafts: HashedDraft[];
  fail: boolean;
  appendAll: Recorder["appendAll"];
  room?: NonNullable<Recorder["room"]>;
};

/** Records in memory; with `fail` every append fails. */
export function createMemoryRecorder(): MemoryRecorder {
  const drafts: HashedDraft[] = [];
  const recorder: MemoryRecorder = {
    drafts,
    fail: false,
    appendAll: async (appended) => {
      if (recorder.fail) throw new Error("the store is down");
      return appended.map((draft) => {
        drafts.push(hashed(draft));
        return { seq: drafts.length - 1, id: `agui-${draft.receipt.event_id}` };
      });
    },
  };
  return recorder;
}

/** A draft as the log would keep it: only the hash of its payload. */
function hashed({ facts: _facts, emitted_text: _emitted, ...draft }: DecisionDraft): HashedDraft {
  if (draft.payload_text === undefined) return draft;
  const { payload_text: text, receipt, ...rest } = draft;
  return { ...rest, receipt: { ...receipt, payload_hash: sha256Hex(text) } };
}

/** A policy that allows plain chat and requires a capability for everything else. */
export const CHAT_POLICY = `hushspec: "0.1.0"
name: chat
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
  ag_ui_inbound:
    enabled: true
    default: allow
`;

/** A policy that allows everything that no other rule names. */
export const OPEN_POLICY = `hushspec: "0.1.0"
name: open
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    restricted_classifications: []
  ag_ui_inbound: { enabled: true, default: allow }
`;

/** A gateway in front of a scripted agent, on free ports. */
export type Fixture = {
  url: string;
  webSocketUrl: string;
  gateway: Gateway;
  recorder: MemoryRecorder;
  agentRequests: FakeRequest[];
  stop(): Promise<void>;
};

/** Options of {@link startFixture}. */
export type FixtureOptions = {
  policy?: string;
  target?: Partial<UpstreamTarget>;
  gateway?: Partial<GatewayOptions>;
};

/** Starts the gateway and the agent. */
export async function startFixture(
  script: FakeScript,
  options: FixtureOptions = {},
): Promise<Fixture> {
  const agent = await startFakeAgent(script);
  const recorder = createMemoryRecorder();
  const isSocket = options.target?.transport === "websocket";
  const gateway = createGateway({
    agents: [
      {
        name: "support",
        url: new URL(isSocket ? agent.webSocketUrl : agent.url),
        transport: "post-sse",
        headers: {},
        frames: "json",
        dialect: "auto",
        answerTimeoutMs: 5000,
        idleTimeoutMs: 5000,
        ...options.target,
      },
    ],
    policy: createPolicyHolder(compilePolicy(loadPolicy(options.policy ?? CHAT_POLICY))),
    recorder,
    ...options.gateway,
  });
  await new Promise<void>((resolve) => gateway.dataPlane.listen(0, "127.0.0.1", resolve));
  const { port } = gateway.dataPlane.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    webSocketUrl: `ws://127.0.0.1:${port}`,
    gateway,
    recorder,
    agentRequests: agent.requests,
    stop: async () => {
      await gateway.close();
      await agent.stop();
    },
  };
}
