import { compilePolicy, loadPolicy } from "@countersign/policy";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { call, inRun } from "../testing/events.js";
import { ThreadAdmission } from "./thread-admission.js";
import type { ThreadLease } from "./thread-lease.js";

const policy = compilePolicy(loadPolicy('hushspec: "0.1.0"\nrules: {}\n'));

function createAdmission(): (
  id: string,
  runId: string,
  fields?: Partial<RunAgentInput>,
) => Promise<ThreadLease> {
  const threadAdmission = new ThreadAdmission(createMemoryStore(SYSTEM_CLOCK), SYSTEM_CLOCK);
  return (id, runId, fields = {}) => {
    const input = { threadId: "t", runId, protocolVersion: "1.0", messages: [], ...fields };
    return threadAdmission.open({ agent: "a", threadScope: "", principal: { id }, policy, input });
  };
}

test("of two principals who find a thread without an owner, the second to claim it is rejected", async () => {
  const admit = createAdmission();
  const [alice, bob] = await Promise.all([admit("alice", "r1"), admit("bob", "r2")]);
  expect([...alice.findings, ...bob.findings]).toEqual([]);
  expect(await bob.claim()).toBeUndefined();
  expect(await alice.claim()).toMatchObject({ code: "ERR_THREAD_OWNER" });
  await Promise.all([alice.abandon(false), bob.end(true)]);
  expect((await admit("alice", "r3")).findings).toMatchObject([{ code: "ERR_THREAD_OWNER" }]);
  expect((await admit("bob", "r4")).findings).toEqual([]);
});

test("a rejected request takes nothing from a concurrent accepted one of the same principal", async () => {
  const admit = createAdmission();
  const refused = await admit("bob", "r1");
  const accepted = await admit("bob", "r2");
  await accepted.claim();
  await accepted.accept();
  await refused.abandon(false);
  await accepted.end(true);
  expect((await admit("alice", "r3")).findings).toMatchObject([{ code: "ERR_THREAD_OWNER" }]);
});

test("a decline that no agent received is not remembered, one that an agent received is", async () => {
  const admit = createAdmission();
  const first = await admit("alice", "r1");
  await first.accept();
  const ids = { threadId: "t", runId: "r1" };
  const interrupts = [{ id: "i1", reason: "tool_call", toolCallId: "c1" }];
  const events = inRun(ids, call("c1", "pay", "{}")).slice(0, -1);
  events.push({ type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts } });
  await first.follow("1.0")(events as unknown as AgUiEvent[]);
  await first.end(true);
  const decline = async (runId: string): Promise<ThreadLease> => {
    const resume = [{ interruptId: "i1", status: "cancelled" as const }];
    const lease = await admit("alice", runId, { resume });
    expect(lease.findings).toEqual([]);
    await lease.accept();
    return lease;
  };
  const unheard = await decline("r2");
  expect(unheard.state.declined).toHaveLength(1);
  await unheard.abandon(false);
  const between = await admit("alice", "r2");
  expect(between.state.declined).toEqual([]);
  await between.abandon(false);
  const heard = await decline("r3");
  expect(heard.state.declined).toHaveLength(1);
  await heard.abandon(true);
  const later = await admit("alice", "r4");
  expect(later.state.declined).toMatchObject([{ name: "pay" }]);
});
