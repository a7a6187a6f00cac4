import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeAgent } from "@countersign/testkit";
import type { FakeRequest, FakeScript } from "@countersign/testkit";
import { loadConfig } from "../config/load.js";
import { startGateway } from "../serve/serve.js";
import type { RunningGateway } from "../serve/serve.js";
import { createJournal } from "../telemetry/journal.js";
import type { OpenJournal } from "../telemetry/journal.js";
import { OPEN_POLICY } from "./fixture.js";

/** A whole gateway as `countersign serve` runs it, with files in its own folder. */
export type Served = {
  readonly running: RunningGateway;
  readonly folder: string;
  readonly adminToken: string;
  readonly journal: OpenJournal;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly agentRequests: readonly FakeRequest[];
  /** Calls the control plane with the admin token. */
  control(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
};

/** Starts one in front of a scripted agent. */
export async function startServed(
  script: FakeScript,
  options: {
    config?: string;
    /** Further lines of the block `agents`, after the address of the scripted agent. */
    agents?: string;
    /** Lines of the block `control`, without their indentation. */
    control?: string;
    policy?: string;
    /** Another gateway of the same log: it has the same keys, and the same admin token. */
    beside?: Served;
    /** The folder of the built console. */
    consoleDirectory?: string;
  } = {},
): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-served-"));
  const { beside } = options;
  if (beside !== undefined) {
    const keys = join(".countersign", "keys");
    await cp(join(beside.folder, keys), join(folder, keys), {
      recursive: true,
      // The other gateway keeps signing: its temporary checkpoint files appear and disappear.
      filter: (source) => !/last-checkpoint.+/u.test(source),
    });
  }
  const agent = await startFakeAgent(script);
  await writeFile(join(folder, "policy.yaml"), options.policy ?? OPEN_POLICY);
  const config = loadConfig(
    `agents:\n  support:\n    url: ${agent.url}\n${options.agents ?? ""}policy: policy.yaml\nlisten: { port: 0 }\n` +
      `${controlBlock(options.control)}\n${options.config ?? ""}`,
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  const lines: Record<string, unknown>[] = [];
  const journal = createJournal({
    ...config.log,
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const { consoleDirectory } = options;
  const running = await startGateway(config, {
    journal,
    ...(consoleDirectory === undefined ? {} : { consoleDirectory }),
  });
  const token = running.freshAdminToken ?? beside?.adminToken ?? "";
  let closed = false;
  return {
    running,
    folder,
    adminToken: token,
    journal,
    lines,
    agentRequests: agent.requests,
    control: (path, init = {}) =>
      fetch(`${running.controlUrl}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init.headers },
      }),
    stop: async () => {
      if (!closed) await running.close().catch(() => {});
      closed = true;
      await agent.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The block `control`: a free port unless the test names one. */
function controlBlock(lines = ""): string {
  const port = /^port:/mu.test(lines) ? "" : "  port: 0\n";
  return `control:\n${port}${lines.replaceAll(/^(?=.)/gmu, "  ")}`;
}
