import { canonicalJson, CountersignError, sha256Hex } from "@countersign/core";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import { expect, test } from "vitest";
import { createMemoryRecorder, OPEN_POLICY } from "../testing/fixture.js";
import { createOperatorActs } from "./operator-acts.js";

const policy = compilePolicy(loadPolicy(OPEN_POLICY));

function operator(recorder = createMemoryRecorder()) {
  const errors: object[] = [];
  const quiet = (): void => {};
  const context = {
    recorder,
    policy: () => policy,
    clock: { now: () => 1_794_700_000_500 },
    mintId: () => `evt_${recorder.drafts.length}`,
    journal: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (facts: object) => void errors.push(facts),
    },
  };
  return {
    acts: createOperatorActs(context, { name: "admin-1a2b3c4d", method: "token" }),
    recorder,
    errors,
  };
}

test("each run that an operator ended has a receipt with its ids, the reason and the name of the token", async () => {
  const { acts, recorder } = operator();
  await acts.recordStopped([
    {
      session: "s",
      run: "r1",
      thread: "t",
      agent: "support",
      client: { principal: "key:bob", client_address: "192.0.2.7" },
    },
    { session: "s", run: "r2" },
  ]);
  await acts.recordStopped([]);
  expect(recorder.drafts).toHaveLength(2);
  expect(recorder.drafts[0]).toMatchObject({
    direction: "outbound",
    run_id: "r1",
    thread_id: "t",
    principal: "key:bob",
    client_address: "192.0.2.7",
    rule: "gateway/operator-stop",
    policy_hash: policy.hash,
    receipt: {
      agent_id: "support",
      session_id: "s",
      event_type: "lifecycle",
      target: { component_type: "operator", component_id: "admin-1a2b3c4d" },
      allowed: false,
      denial_reason: "stopped by operator admin-1a2b3c4d",
    },
  });
});

test("the receipt of an act about an agent names the agent", async () => {
  const { acts, recorder } = operator();
  await acts.note({ act: "agent-contain", agent: "a/b~c" });
  await acts.record({ act: "capability-issue", capability: "c", agent: "support" });
  await acts.record({ act: "capability-revoke", capability: "c" });
  expect(recorder.drafts.map(({ path }) => path)).toEqual([
    "/agents/a~1b~0c",
    "/agents/support",
    undefined,
  ]);
});

test("a reload has a receipt under the policy that is then in force", async () => {
  const { acts, recorder } = operator();
  await acts.note({ act: "policy-reload" });
  expect(recorder.drafts[0]).toMatchObject({
    policy_hash: policy.hash,
    receipt: {
      event_type: { custom: "operator.policy-reload" },
      agent_id: "<operator>",
      allowed: true,
    },
  });
});

test.each([
  { act: "policy-reload" },
  { act: "capability-issue", capability: "c", agent: "support", session: "s" },
  { act: "capability-attach", capability: "c", session: "s" },
  { act: "capability-revoke", capability: "c" },
  { act: "policy-apply", hash: "0".repeat(64), comment: "why" },
  { act: "agent-contain", agent: "support" },
] as const)("the receipt of $act is from no agent, as no receipt of a peer can be", async (act) => {
  const { acts, recorder } = operator();
  await acts.record(act);
  expect(recorder.drafts[0]).toMatchObject({
    receipt: {
      agent_id: "<operator>",
      event_type: { custom: `operator.${act.act}` },
      payload_hash: sha256Hex(
        canonicalJson({ ...act, operator: "admin-1a2b3c4d", method: "token" }),
      ),
    },
  });
});

test("an unavailable log undoes no stop; the response reports the missing receipt", async () => {
  const recorder = createMemoryRecorder();
  const down = new CountersignError("ERR_LOG_CLOSED", "the log is closed", {});
  const { acts, errors } = operator({ ...recorder, appendAll: () => Promise.reject(down) });
  await acts.recordStopped([{ session: "s", run: "r" }]);
  expect(await acts.note({ act: "policy-reload" })).toBeUndefined();
  expect(errors).toMatchObject([{ act: "stop" }, { act: "policy-reload" }]);
  await expect(
    acts.record({ act: "capability-attach", capability: "c", session: "s" }),
  ).rejects.toMatchObject({ code: "ERR_LOG_CLOSED" });
});
