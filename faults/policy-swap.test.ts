import { payloadHash, sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idsOf, inRun, message } from "./harness/agent.js";
import { finishRun } from "./harness/client.js";
import type { ClientRun, SeenEvent } from "./harness/client.js";
import { countersign } from "./harness/command.js";
import { OPEN_POLICY, startIn, writeSettings } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { pause, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const SECONDS = scaled(4, 20);
const TOOLS = ["open_ticket", "close_ticket"] as const;

/** Under it exactly one of the two tools may be called. */
const allowing = (tool: string): string =>
  `${OPEN_POLICY}  ag_ui_tools: { call: { allow: [${tool}] } }\n`;

const callOf = (runId: string, tool: string): SeenEvent => ({
  type: "TOOL_CALL_START",
  toolCallId: `${tool}-${runId}`,
  toolCallName: tool,
});

test("a policy swapped ten times a second under load: each run has one policy, and each decision is that policy's", async () => {
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const calls = TOOLS.flatMap((tool) => [
        callOf(ids.runId, tool),
        { type: "TOOL_CALL_END", toolCallId: `${tool}-${ids.runId}` },
      ]);
      for (const event of inRun(ids, [...message(`m-${ids.runId}`, "wait"), ...calls])) {
        yield sseFrame(event);
        // Long enough for every run to see a swap or two pass by.
        await pause(25);
      }
    })(),
  }));
  scene.defer(() => agent.stop());
  const directory = await scene.directory();
  const file = join(directory, "policy.yaml");
  const hashes = new Map<string, string>();
  for (const tool of TOOLS) {
    writeSettings(directory, { agent: agent.url, policy: allowing(tool) });
    const said = await countersign(directory, "policy", "check", "policy.yaml", "--json");
    const { files } = JSON.parse(said) as { files: { hash: string }[] };
    hashes.set(files[0]?.hash ?? "", tool);
  }
  const gateway = await startIn(scene, directory);
  const end = Date.now() + SECONDS * 1000;
  let swaps = 0;
  const swapping = (async () => {
    while (Date.now() < end) {
      // In one step, as an editor or a deployment does it.
      writeFileSync(`${file}.new`, allowing(TOOLS[swaps % 2] as string));
      renameSync(`${file}.new`, file);
      gateway.child.kill("SIGHUP");
      swaps += 1;
      await pause(100);
    }
  })();
  const runs: ClientRun[] = [];
  const asking = Array.from({ length: 10 }, async () => {
    while (Date.now() < end) runs.push(await finishRun(gateway.url));
  });
  await Promise.all([swapping, ...asking]);
  expect(await gateway.stop()).toBe(0);

  const log = await checkLog(directory);
  expect(unreceipted(log, runs)).toEqual([]);
  const used = new Set<string>();
  for (const run of runs) {
    expect(run.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    const entries = log.entries.filter(({ run_id: id }) => id === run.runId);
    const [hash = "", ...others] = new Set(entries.map(({ policy_hash }) => policy_hash));
    expect(others).toEqual([]);
    used.add(hash);
    const allowed = hashes.get(hash);
    for (const tool of TOOLS) {
      const call = callOf(run.runId, tool);
      const receipt = entries.find(({ receipt }) => receipt.payload_hash === payloadHash(call));
      expect(receipt?.receipt.allowed).toBe(tool === allowed);
      expect(run.events.some((event) => event["toolCallName"] === tool)).toBe(tool === allowed);
    }
  }
  expect(used.size).toBe(2);
  report(`${swaps} swaps of the policy under ${runs.length} runs`);
}, 120_000);
