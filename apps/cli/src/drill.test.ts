import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOperatorToken } from "@countersign/gateway";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startPhishingNight } from "../../../packages/gateway/src/testing/phishing-night.js";
import type { PhishingNight } from "../../../packages/gateway/src/testing/phishing-night.js";
import { runProgram } from "./testing/run-program.js";

const erin = createOperatorToken();
let night: PhishingNight;
beforeAll(async () => {
  night = await startPhishingNight({
    control: `operators:\n  - { name: erin, role: operator, token: "${erin.hash}" }\n`,
  });
  vi.stubEnv("COUNTERSIGN_ADMIN_TOKEN", erin.key);
}, 60_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  await night?.stop();
});

/** Runs a command as one types it in the folder of the gateway. */
const at = async (command: string): Promise<string> => {
  const words = command.split(" ");
  const { out } = await runProgram(...words, "--config", night.configFile);
  return out;
};

const columnsOf = (line: string | undefined): string[] => (line ?? "").split(/\s{2,}/u);

test("from the command line alone, an operator finds who, what, why and what the person saw, and stops the agent under their name", async () => {
  // When: the hour with blocked events. The command reads up to the last checkpoint, at most a second old.
  await vi.waitFor(async () => {
    const hours = await at("receipts stats --by allowed --bucket 1h --since 4h");
    expect(hours).toMatch(/2026-11-18T03:00:00.000Z +false +3/u);
    expect(hours).toMatch(/2026-11-18T03:00:00.000Z +true +34/u);
  }, 5000);
  // Who, and by which rules.
  expect(await at("receipts stats --by principal,rule --blocked --since 1h")).toMatch(
    /key:bob +ag_ui_components +1/u,
  );
  // What: a form, an image and a custom event.
  const blocked = await at("receipts list --principal key:bob --blocked --since 1h");
  expect(blocked).toMatch(/sign-in-form +blocked/u);
  expect(blocked).toMatch(/custom:open-sign-in .*blocked capability required/u);
  expect(blocked).toContain("image of another host");
  const row = columnsOf(blocked.split("\n").find((line) => line.includes("open-sign-in")));
  const [seq = "", time = "", session = "", run = ""] = row;
  expect([time, session, run]).toEqual(["2026-11-18T03:00:10.000Z", "bob-phone", "mailbox-full"]);
  expect(await at(`receipts show ${seq}`)).toContain("127.0.0.1");
  // Why, and how to open it: the lines are tried on the policy of the gateway.
  const policy = join(night.served.folder, "policy.yaml");
  const why = await at(`policy explain ${seq} --policy ${policy}`);
  expect(why).toContain("ag_ui.capability: an event of this class needs a capability token");
  expect(why).toMatch(/a CUSTOM event named open-sign-in: .*\n +ag_ui_classify:\n +custom:\n/u);
  // What the person saw: the run in its order, without the blocked parts.
  const seen = await at(`receipts list --run ${run} --direction outbound --allowed --oldest`);
  expect(seen).toContain("text_stream");
  expect(seen).not.toContain("sign-in-form");
  // Close it.
  const open = await at("runs list --status running --principal key:bob");
  expect(open).toMatch(/mailbox-full +running +support +key:bob +bob-phone +3/u);
  const listed = await at("agents stop support");
  expect(listed).toContain("Nothing is stopped yet");
  expect(listed).toContain("mailbox-full");
  expect(await at("agents stop support --yes")).toContain("stopped support: 1 run ended");
  expect(await at("agents list")).toMatch(/support +stopped by erin +0/u);
  expect(await at("runs list --status running")).toContain("no run matches");
  // The log names the operator, the run and its principal.
  await vi.waitFor(async () => {
    const acts = await at("receipts list --find erin");
    expect(acts).toMatch(/mailbox-full +support +key:bob .*stopped by operator erin/u);
    expect(acts).toMatch(
      /<operator> .*custom:operator.agent-contain .*operator:erin \/agents\/support/u,
    );
  });
  expect(await at("agents resume support")).toContain("resumed support");
});

test("lines of policy explain, added to the policy file, open what was blocked; the log has the reload", async () => {
  const policy = join(night.served.folder, "policy.yaml");
  const { holder } = night.served.running.policy;
  const before = holder.current.hash;
  const explained = await at(`policy explain custom:open-sign-in --policy ${policy} --json`);
  const { openings } = JSON.parse(explained) as {
    openings: { about?: string; opening: { policy?: string } }[];
  };
  const lines = openings.find(({ about }) => about?.includes("CUSTOM"))?.opening.policy ?? "";
  const [block = "", ...rest] = lines.split("\n");
  const added = [block, ...rest].map((line) => `  ${line}`).join("\n");
  const text = await readFile(policy, "utf8");
  await writeFile(policy, text.replace(`  ${block}`, added));
  await vi.waitFor(() => expect(holder.current.hash).not.toBe(before), { timeout: 10_000 });
  // The list shows the log up to its last checkpoint.
  await vi.waitFor(
    async () => {
      expect(await at("receipts list --find <file>")).toContain("operator.policy-reload");
    },
    { timeout: 15_000 },
  );
}, 30_000);

test("a run is stopped by its id; an id that no open run has is an error with the next step", async () => {
  await expect(at("runs stop nothing")).rejects.toThrow("Fix: run countersign runs list");
  await expect(at("agents stop")).rejects.toThrow("--all");
  await expect(at("agents stop nobody")).rejects.toThrow("one of support");
  vi.stubEnv("COUNTERSIGN_ADMIN_TOKEN", "wrong");
  await expect(at("agents list")).rejects.toMatchObject({ code: "ERR_CLI_CONTROL" });
  vi.stubEnv("COUNTERSIGN_ADMIN_TOKEN", erin.key);
});
