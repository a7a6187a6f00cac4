import { expect, test } from "vitest";
import { createControlApp } from "./app.js";
import type { ControlOptions } from "./app.js";

test("wrong admin tokens are bounded by the minute; the right one always passes", async () => {
  const options = {
    gateway: { surroundings: { clock: { now: () => 0 }, sessions: {}, feed: {} } },
    receipts: {},
    policy: {},
    tokens: {},
    admin: { fresh: undefined, matches: (token: string) => token === "right" },
    isMetricsPublic: false,
    status: () => Promise.resolve({ ok: true }),
  } as unknown as ControlOptions;
  const app = createControlApp(options);
  const ask = async (token: string): Promise<number> =>
    (await app.request("/v1/status", { headers: { authorization: `Bearer ${token}` } })).status;
  const wrong: number[] = [];
  for (let times = 0; times < 22; times++) wrong.push(await ask("wrong"));
  expect(wrong.slice(0, 20).every((status) => status === 401)).toBe(true);
  expect(wrong.slice(20)).toEqual([429, 429]);
  expect(await ask("right")).toBe(200);
});
