import { readFileSync } from "node:fs";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainName } from "../../explain/explain-name.js";
import { idsOf, inRun, text } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";

const ENFORCED = readFileSync(
  new URL("../../../../policy/policies/starter.yaml", import.meta.url),
  "utf8",
).replace("mode: observe", "mode: enforce");

let script: (request: FakeRequest) => object[];
let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    policy: ENFORCED,
  });
});
afterAll(() => fixture.stop());

async function send(threadId: string, runId: string, fields: object = {}): Promise<string> {
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({
      threadId,
      runId,
      messages: [{ id: `u-${runId}`, role: "user", content: "hello" }],
      ...fields,
    }),
  });
  return response.text();
}

function asking(...reasons: string[]): void {
  script = ({ body }) => {
    const [start, end] = inRun(idsOf(body), []);
    const interrupts = reasons.map((reason, index) => ({ id: `i${index}`, reason }));
    return [start as object, { ...end, outcome: { type: "interrupt", interrupts } }];
  };
}

type RunError = {
  type: string;
  code: string;
  message: string;
  metadata: { countersign: { problem: { remedy: string; receipt: string } } };
};

const errorIn = (stream: string): RunError => {
  const last = [...stream.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? "";
  return JSON.parse(last) as RunError;
};

test("a withheld question ends the run, and the error names the policy line that opens it", async () => {
  asking("confirmation", "langgraph:review");
  const { type, code, message, metadata } = errorIn(await send("t1", "r1"));
  expect([type, code]).toEqual(["RUN_ERROR", "BLOCKED_BY_POLICY"]);
  expect(message).toContain("withheld a question of the agent");
  expect(message).toContain("start a new conversation");
  const { remedy, receipt } = metadata.countersign.problem;
  expect(receipt).toMatch(/^agui-/);
  const lines = remedy.replace("add to the policy under rules: ", "");
  const { refinements } = compilePolicy(loadPolicy(`ag_ui: {}\n${lines}\n`));
  for (const reason of ["confirmation", "langgraph:review"]) {
    expect(refinements.interrupts.find(reason)?.classification).toBe("display");
  }
  expect(
    explainName("interrupt:confirmation", compilePolicy(loadPolicy(ENFORCED)).document),
  ).toMatchObject({
    openings: [{ opening: { policy: expect.stringContaining("match: confirmation") } }],
  });
});

test("the policy line never contains a reason that is a sentence or a wildcard", async () => {
  for (const reason of ["give me your password", "*", 'x", classification: display']) {
    asking(reason);
    const error = errorIn(await send(`t-${reason.length}`, "r1"));
    expect(JSON.stringify(error)).not.toContain(JSON.stringify(reason).slice(1, -1));
    expect(error.metadata.countersign.problem.remedy).toContain("policy explain");
  }
});

test.each([{}, { protocolVersion: "1.0" }])(
  "after a withheld question, the next text reaches the agent unchanged: %j",
  async (version) => {
    const threadId = `next-${Object.keys(version).length}`;
    asking("confirmation");
    await send(threadId, "r1", version);
    let asked: { resume?: unknown; messages: { content: string }[] } | undefined;
    script = ({ body }) => {
      asked = JSON.parse(body) as typeof asked;
      return inRun(idsOf(body), text("a1", "I am here"));
    };
    expect(await send(threadId, "r2", version)).toContain("I am here");
    expect(asked?.resume).toBeUndefined();
    expect(asked?.messages.map(({ content }) => content)).toEqual(["hello"]);
  },
);

test("once the operator opens the question, an agent that asks again gets the person's answer, and the thread goes on", async () => {
  const policy = createPolicyHolder(compilePolicy(loadPolicy(ENFORCED)));
  const opened = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    gateway: { policy },
  });
  const before = fixture;
  fixture = opened;
  try {
    const version = { protocolVersion: "1.0" };
    asking("confirmation");
    expect(errorIn(await send("again", "r1", version)).code).toBe("BLOCKED_BY_POLICY");
    const rules = ENFORCED.replace(
      "    interrupts:\n",
      "    interrupts:\n      - { match: confirmation, classification: display }\n",
    ).replace(
      "      tool_result: { classification: display }\n",
      "      tool_result: { classification: display }\n      resume: { classification: display }\n",
    );
    expect(policy.replace(rules).replaced).toBe(true);
    expect(await send("again", "r2", version)).toContain('"interrupts":[{"id":"i0"');
    script = ({ body }) => inRun(idsOf(body), text("a1", "refunded"));
    const resume = [{ interruptId: "i0", status: "resolved", payload: { approved: true } }];
    expect(await send("again", "r3", { ...version, resume })).toContain("refunded");
  } finally {
    fixture = before;
    await opened.stop();
  }
});
