import { sseFrame } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { startFixture } from "../testing/fixture.js";
import { idsOf } from "../testing/events.js";

test("when a thread cannot be saved, the log has the error code and not the message", async () => {
  const lines: string[] = [];
  const write = (facts: object, message: string): void =>
    void lines.push(JSON.stringify(facts, (_, value: unknown) => toLogged(value)) + message);
  const journal = { debug: write, info: write, warn: write, error: write };
  const inner = createMemoryStore(SYSTEM_CLOCK);
  let isDown = false;
  const fixture = await startFixture(
    ({ body, signal }) => ({
      pieces: (async function* () {
        yield sseFrame({ type: "RUN_STARTED", ...idsOf(body) });
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      })(),
    }),
    {
      gateway: {
        journal,
        ledger: {
          ...inner,
          write: (...parameters) =>
            isDown
              ? Promise.reject(Object.assign(new Error("secret words"), { code: "ERR_DOWN" }))
              : inner.write(...parameters),
        },
      },
    },
  );
  const leave = new AbortController();
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] }),
    signal: leave.signal,
  });
  expect(response.status).toBe(200);
  isDown = true;
  leave.abort();
  await vi.waitFor(() => expect(lines.join("\n")).toContain("could not be stored"));
  await fixture.stop();
  expect(lines.find((line) => line.includes("could not be stored"))).toContain(
    '"cause":"ERR_DOWN"',
  );
  expect(lines.join("\n")).not.toContain("secret");
});

/** Errors as a log writes them. */
function toLogged(value: unknown): unknown {
  return value instanceof Error ? { ...value, message: value.message } : value;
}
