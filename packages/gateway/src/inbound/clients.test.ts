import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { CLIENTS } from "../testing/client.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { createDice, RandomAgent } from "../testing/random-run.js";
import type { AgentInput } from "../testing/random-run.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_order: { on_error: allow, on_warning: allow }
  ag_ui_request: { history: { accept: HISTORY } }
`;
const TOOLS = [{ name: "ask_person", description: "asks", parameters: { type: "object" } }];
const RUNS = 5;
const SEEDS = Number(process.env["CLIENT_SEEDS"] ?? 6);

type Held = { id: string; role: string; toolCallId?: string; toolCalls?: HeldCall[] };
type HeldCall = { id: string; function: { name: string } };
type Pending = { id: string };

test.each(
  Object.keys(CLIENTS).flatMap((version) => [
    [version as keyof typeof CLIENTS, "full"] as const,
    [version as keyof typeof CLIENTS, "any"] as const,
  ]),
)(
  "client %s is never refused for what it was delivered (history: %s)",
  async (version, history) => {
    const Client = CLIENTS[version];
    const isNew = version === "1.0.0";
    let agent: RandomAgent | undefined;
    let sent: unknown[] = [];
    fixture = await startFixture(
      ({ body }) => {
        const input = JSON.parse(body) as AgentInput;
        const events = (agent as RandomAgent).run(input);
        sent.push(input.messages, events);
        return { pieces: events.map(sseFrame) };
      },
      { policy: POLICY.replace("HISTORY", history) },
    );
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      sent = [];
      const dice = createDice(seed);
      agent = new RandomAgent(dice, { subagents: version !== "0.0.55", interrupts: isNew });
      const client = new Client({ url: `${fixture.url}/agents/support`, threadId: `t${seed}` });
      for (let turn = 0; turn < RUNS; turn += 1) {
        const before = fixture.agentRequests.length;
        const messages = client.messages as unknown as Held[];
        const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
        const open = messages
          .flatMap(({ toolCalls }) => toolCalls ?? [])
          .filter((call) => call.function.name === "ask_person" && !answered.has(call.id));
        for (const call of open) {
          const id = `answer-${call.id}`;
          client.addMessage({ id, role: "tool", toolCallId: call.id, content: "yes" });
        }
        client.addMessage({ id: `u${turn}`, role: "user", content: `turn ${turn}` });
        const pending = isNew
          ? ((client as unknown as { pendingInterrupts?: Pending[] }).pendingInterrupts ?? [])
          : [];
        // A person who is asked again after a run broke off gives the same answer.
        const resume = pending.map(({ id }) =>
          id.length % 2 === 0
            ? { interruptId: id, status: "resolved" as const, payload: { ok: true } }
            : { interruptId: id, status: "cancelled" as const },
        );
        let failure: unknown;
        await client
          .runAgent({
            runId: `r${turn}`,
            tools: TOOLS as never,
            ...(resume.length > 0 ? { resume } : {}),
          })
          .catch((error: unknown) => {
            failure = error;
          });
        const where = `seed ${seed}, turn ${turn}: ${String(failure)}\n${JSON.stringify([...sent, client.messages])}`;
        expect(String(failure), where).not.toMatch(/HTTP 4/);
        expect(fixture.agentRequests.length, where).toBe(before + 1);
      }
    }
  },
  60_000,
);
