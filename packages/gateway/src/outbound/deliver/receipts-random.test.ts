import { sseFrame } from "@countersign/testkit";
import { createRunAutomaton } from "@countersign/wire/order";
import type { AgUiEvent } from "@countersign/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLIENTS } from "../../testing/client.js";
import type { SeenEvent } from "../../testing/client.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { createDice, RandomAgent } from "../../testing/random-run.js";
import type { AgentInput } from "../../testing/random-run.js";
import { faultsOf, pairUp } from "../../testing/shown.js";
import { openSigningLog } from "../../testing/signing-log.js";
import type { SigningLog } from "../../testing/signing-log.js";
import { sseEvents } from "../../testing/transports.js";

/** The policy withholds some events, so that the delivered stream differs from the agent's. */
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_order: { on_error: allow, on_warning: allow }
  ag_ui_request: { history: { accept: any } }
  ag_ui_conditions:
    rules:
      - { id: some, effect: block, when: 'has(event.type) && event.type == "TEXT_MESSAGE_CONTENT" && event.delta.contains("quoted")' }
`;
const SEEDS = Number(process.env["RECEIPT_SEEDS"] ?? 12);
const RUNS = 3;

let log: SigningLog;
let fixture: Fixture;
let agent: RandomAgent;
beforeAll(async () => {
  log = await openSigningLog("batch");
  fixture = await startFixture(
    ({ body }) => ({
      pieces: agent.run(JSON.parse(body) as AgentInput).map((event, index) =>
        // Every third event has a part that is removed before delivery.
        sseFrame(index % 3 === 1 ? { ...event, rawEvent: { internal: index } } : event),
      ),
    }),
    { policy: POLICY, gateway: { recorder: log.log } },
  );
});
afterAll(async () => {
  await fixture.stop();
  await log.close();
});

const isOurs = ({ type, code }: SeenEvent): boolean => type === "RUN_ERROR" && code !== undefined;

test("in a random run every delivered event has exactly one valid receipt, and the official client accepts the stream", async () => {
  let shownEvents = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    agent = new RandomAgent(createDice(seed), { subagents: true, interrupts: false });
    let body: Promise<string> = Promise.resolve("");
    const client = new CLIENTS["1.0.0"]({
      url: `${fixture.url}/agents/support`,
      threadId: `t${seed}`,
      headers: { "countersign-receipts": "1" },
      fetch: async (...parameters: Parameters<typeof fetch>) => {
        const response = await fetch(...parameters);
        body = response.clone().text();
        return response;
      },
    });
    for (let turn = 0; turn < RUNS; turn += 1) {
      client.addMessage({ id: `u${turn}`, role: "user", content: `turn ${turn}` });
      let failure: unknown;
      const run = { threadId: `t${seed}`, runId: `r${turn}` };
      await client.runAgent({ runId: run.runId }).catch((error: unknown) => {
        failure = error;
      });
      const events = sseEvents(await body);
      const where = `seed ${seed}, turn ${turn}: ${String(failure)}\n${JSON.stringify(events)}`;
      const shown = pairUp(events);
      expect(shown.length, where).toBeGreaterThan(1);
      // Only the gateway's own last event has no receipt.
      const signed = isOurs(shown.at(-1)!.event) ? shown.slice(0, -1) : shown;
      expect(await faultsOf(signed, run, log.key), where).toEqual([]);
      expect(disorderOf(events), where).toEqual([]);
      const isFailed = events.at(-1)?.type === "RUN_ERROR";
      expect(failure === undefined || isFailed, where).toBe(true);
      shownEvents += signed.length;
    }
  }
  expect(shownEvents).toBeGreaterThan(SEEDS * RUNS * 5);
}, 60_000);

/** The order problems of a stream with its receipts. */
function disorderOf(events: readonly object[]): string[] {
  const automaton = createRunAutomaton();
  return events.flatMap((event) =>
    automaton
      .push(event as AgUiEvent)
      .filter(({ severity }) => severity === "error")
      .map(({ rule }) => rule),
  );
}
