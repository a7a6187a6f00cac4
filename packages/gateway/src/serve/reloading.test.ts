import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../config/load.js";
import { SILENT_JOURNAL, SYSTEM_CLOCK } from "../base/ports.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { openLedger } from "./open-ledger.js";
import { openPolicy } from "./open-policy.js";
import { openTokens } from "./open-tokens.js";
import { followFiles } from "./reloading.js";

test("a policy, its base and a revocation that are written between the first read and the watch are loaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-reloading-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const named = (name: string) => OPEN_POLICY.replace("name: open", `name: ${name}`);
  write("policy.yaml", named("first"));
  write("base.yaml", OPEN_POLICY);
  write("other.yaml", 'hushspec: "0.1.0"\nextends: base.yaml\n');
  const config = loadConfig(
    "agents: { a: { url: http://127.0.0.1:9/ } }\ncapabilities: { revocations: revoked.jsonl }\n",
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  const ledger = await openLedger(config, SYSTEM_CLOCK, { entries: 0, acceptsMissing: false });
  const tokens = await openTokens(config, SYSTEM_CLOCK, SILENT_JOURNAL, ledger, "a");
  const policies = ["policy.yaml", "other.yaml"].map((name) => openPolicy(join(folder, name)));
  write("revoked.jsonl", '{"capability_id":"cap-1","revoked_at":1}\n');
  write("policy.yaml", named("second"));
  write("base.yaml", OPEN_POLICY.replace("capability: true", "capability: false"));
  const before = policies.map(({ holder }) => holder.current.hash);
  const watches = policies.map((policy) =>
    followFiles({
      policy,
      tokens,
      journal: SILENT_JOURNAL,
      onPolicyChange: () => void policy.reload(),
    }),
  );
  await vi.waitFor(() => {
    expect(policies.map(({ reloads }) => reloads.ok)).toEqual([1, 1]);
    expect(tokens.revocations.count).toBe(1);
  }, 3000);
  policies.forEach(({ holder }, index) => expect(holder.current.hash).not.toBe(before[index]));
  for (const watch of watches) watch.stop();
  await tokens.close();
  await ledger.close();
  rmSync(folder, { recursive: true });
});
