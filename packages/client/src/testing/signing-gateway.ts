import { encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { createGateway } from "@countersign/gateway";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { openLog } from "@countersign/receipts/log";
import { createInThreadSigner } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { startFakeAgent } from "@countersign/testkit";
import type { FakeRequest, FakeScript } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real gateway with a log that signs, in front of a scripted agent. */
export type SigningGateway = {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** The key of its receipts. */
  readonly key: string;
  readonly requests: readonly FakeRequest[];
  stop(): Promise<void>;
};

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
`;

/** Starts one; pages of any origin may ask it. */
export async function startSigningGateway(
  script: FakeScript,
  sign: "each" | "batch" = "each",
): Promise<SigningGateway> {
  const directory = await mkdtemp(join(tmpdir(), "countersign-client-"));
  const agent = await startFakeAgent(script);
  const key = generateKey();
  const log = await openLog({
    store: await openSqliteStore({ directory }),
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(generateKey()),
    origin: "test/log",
    durability: "relaxed",
    sign,
    checkpointInterval: 0,
  });
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
    recorder: log,
    origins: ["*"],
  });
  await new Promise<void>((resolve) => gateway.dataPlane.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(gateway.dataPlane.address() as AddressInfo).port}`,
    key: `ed25519:${encodeHex(createSigner(key).publicKey)}`,
    requests: agent.requests,
    stop: async () => {
      await gateway.close();
      await log.close();
      await agent.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
