import { encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import { createInThreadSigner } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import type { FakeRequest, FakeScript } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChatGateway } from "./chat-gateway.js";

/** A real gateway with a log that signs, in front of a scripted agent. */
export type SigningGateway = {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** The key of its receipts. */
  readonly key: string;
  readonly requests: readonly FakeRequest[];
  stop(): Promise<void>;
};

/** Starts one; pages of any origin may ask it. */
export async function startSigningGateway(
  script: FakeScript,
  sign: "each" | "batch" = "each",
): Promise<SigningGateway> {
  const directory = await mkdtemp(join(tmpdir(), "countersign-client-"));
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
  const { agent, address, stop } = await startChatGateway(script, {
    recorder: log,
    origins: ["*"],
  });
  return {
    address,
    key: `ed25519:${encodeHex(createSigner(key).publicKey)}`,
    requests: agent.requests,
    stop: async () => {
      await stop();
      await log.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
