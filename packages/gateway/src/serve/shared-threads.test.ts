import { sseFrame } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { expect, test } from "vitest";
import { call, idsOf, text } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const shared = aroundEachTest();

const PAY = '{"amount":5}';
const INTERRUPTS = [{ id: "i1", reason: "tool_call", toolCallId: "c1" }];

/** Asks before it pays, and pays when it is resumed and `go` has resolved. */
async function start(go: Promise<void>, beside?: Served): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        const ids = idsOf(body);
        const { resume } = JSON.parse(body) as { resume?: object };
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        if (resume !== undefined) await go;
        const isAsking = ids.runId === "ask";
        const outcome = isAsking ? { outcome: { type: "interrupt", interrupts: INTERRUPTS } } : {};
        const events =
          resume === undefined && !isAsking
            ? text(`m-${ids.runId}`, "hello")
            : call(isAsking ? "c1" : `c-${ids.runId}`, "pay", PAY);
        yield [...events, { type: "RUN_FINISHED", ...ids, ...outcome }].map(sseFrame).join("");
      })(),
    }),
    {
      policy: OPEN_POLICY,
      config: `receipts: { store: "${shared.database.url}" }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

function send(served: Served, runId: string, fields: object = {}): Promise<Response> {
  return fetch(`${served.running.dataUrl}/agents/support`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      protocolVersion: "1.0",
      threadId: "t",
      runId,
      messages: [],
      ...fields,
    }),
  });
}

const APPROVE = {
  resume: [{ interruptId: "i1", status: "resolved", payload: { approved: true } }],
};
const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { code: string }).code;

test("of the same approval at two gateways one reaches the agent, and the thread goes on at either as soon as the run is over", async () => {
  let pay = (): void => {};
  const go = new Promise<void>((resolve) => {
    pay = resolve;
  });
  const first = await start(go);
  const second = await start(go, first);
  await (await send(first, "ask")).text();
  const answers = await Promise.all([send(first, "r1", APPROVE), send(second, "r2", APPROVE)]);
  const [taken, refused] = answers.toSorted((one, other) => one.status - other.status);
  expect(taken?.status).toBe(200);
  expect(await codeOf(refused as Response)).toBe("ERR_RUN_ACTIVE");
  // Nor does the open run end for a later one, with the same answer or another.
  const cancel = { resume: [{ interruptId: "i1", status: "cancelled" }] };
  const elsewhere = taken === answers[0] ? second : first;
  expect(await codeOf(await send(elsewhere, "r3", APPROVE))).toBe("ERR_RUN_ACTIVE");
  expect(await codeOf(await send(elsewhere, "r4", cancel))).toBe("ERR_RUN_ACTIVE");
  pay();
  const events = sseEvents(await (taken as Response).text());
  expect(events.map(({ type }) => type)).toContain("TOOL_CALL_END");
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await codeOf(await send(elsewhere, "r5", APPROVE))).toBe("ERR_RESUME_UNKNOWN");
  const requests = [...first.agentRequests, ...second.agentRequests];
  expect(requests.filter(({ body }) => body.includes("i1"))).toHaveLength(1);
  for (const [count, served] of [elsewhere, first, second, first].entries()) {
    const user = { id: `u${count}`, role: "user", content: "hi" };
    const next = await send(served, `n${count}`, { messages: [user] });
    expect(next.status).toBe(200);
    await next.text();
  }
}, 60_000);
