import { CountersignError } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import { post } from "../testing/transports.js";
import { createTelemetry } from "./telemetry.js";
import { watchLedger } from "./watched-ledger.js";

/** A ledger whose disk can be full. */
function createFragileLedger() {
  const state = { isFull: false };
  const clock = { now: () => 0 };
  const inner = createMemoryStore(clock);
  const check = (): void => {
    if (state.isFull) throw new CountersignError("ERR_LEDGER_UNAVAILABLE", "disk is full", {});
  };
  const ledger: KeyedStore = {
    ...inner,
    write: async (...parameters) => {
      check();
      await inner.write(...parameters);
    },
    claim: async (...parameters) => {
      check();
      return inner.claim(...parameters);
    },
  };
  return { ledger, state, clock };
}

/** Advances the fake time. */
function passTime() {
  const passing = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => passing.mockRestore());
  return passing;
}

test("a ledger that fails is counted and not ready, and one success makes it ready again", async () => {
  const { ledger, state, clock } = createFragileLedger();
  const { ledger: counts } = createTelemetry();
  const watched = watchLedger(ledger, clock, counts);
  expect(watched.isReady()).toBe(true);
  state.isFull = true;
  await expect(watched.claim([])).rejects.toThrow("disk is full");
  await expect(watched.write("t", [])).rejects.toThrow("disk is full");
  expect(counts.failures).toBe(2);
  expect(watched.isReady()).toBe(false);
  state.isFull = false;
  await watched.write("t", []);
  expect(watched.isReady()).toBe(true);
});

test("an error that the store did not cause leaves it ready", async () => {
  const { ledger, clock } = createFragileLedger();
  const { ledger: counts } = createTelemetry();
  const claim: KeyedStore["claim"] = async () => {
    throw new CountersignError("ERR_LEDGER_FULL", "too many messages", { limit: 1 });
  };
  const watched = watchLedger({ ...ledger, claim }, clock, counts);
  await expect(watched.claim([])).rejects.toThrow("too many messages");
  expect(watched.isReady()).toBe(true);
  expect(counts.failures).toBe(0);
});

test("without traffic, the readiness check probes the ledger once a second", async () => {
  const { ledger, state, clock } = createFragileLedger();
  const watched = watchLedger(ledger, clock, { failures: 0 });
  const passing = passTime();
  state.isFull = true;
  await expect(watched.claim([])).rejects.toThrow("disk is full");
  expect(watched.isReady()).toBe(false);
  await Promise.resolve();
  state.isFull = false;
  passing.mockReturnValue(999);
  expect(watched.isReady()).toBe(false);
  passing.mockReturnValue(1000);
  watched.isReady();
  await expect.poll(() => watched.isReady()).toBe(true);
});

test("/readyz is red and says why while no thread can be written, and green when there is room again", async () => {
  const { ledger, state, clock } = createFragileLedger();
  const passing = passTime();
  const fixture = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }),
    { gateway: { ledger, clock } },
  );
  const ready = async () => {
    const response = await fetch(`${fixture.url}/readyz`);
    return [response.status, ((await response.json()) as { status: string }).status];
  };
  const ask = async (runId: string) => {
    const response = await post(`${fixture.url}/agents/support`, { threadId: "t", runId });
    await response.text();
    return response.status;
  };
  try {
    expect(await ready()).toEqual([200, "ready"]);
    state.isFull = true;
    expect(await ask("r1")).toBe(503);
    expect(await ready()).toEqual([503, "threads unavailable"]);
    expect(fixture.gateway.isReady()).toBe(false);
    expect(fixture.gateway.context.telemetry.ledger.failures).toBeGreaterThan(0);
    state.isFull = false;
    passing.mockReturnValue(5000);
    await expect.poll(ready).toEqual([200, "ready"]);
    expect(await ask("r2")).toBe(200);
  } finally {
    await fixture.stop();
  }
});
