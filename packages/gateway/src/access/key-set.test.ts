import { isCountersignError } from "@countersign/core";
import { createFakeClock } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIdentityKey, startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { createAccess } from "./access.js";
import type { Access, GrantName } from "./access.js";
import { createKeySet } from "./key-set.js";

let identity: Identity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const outcome = (access: Access, token: string): Promise<string> =>
  access.authenticate(token).then(
    () => "accepted",
    (error: unknown) => {
      if (isCountersignError(error, "ERR_ACCESS_TOKEN")) return error.facts.reason;
      return isCountersignError(error) ? error.code : "crash";
    },
  );

test("the key set is fetched once for many tokens, and again when it is stale", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock })]);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => identity.token("a")));
  expect(new Set(await Promise.all(tokens.map((token) => outcome(access, token))))).toEqual(
    new Set(["accepted"]),
  );
  expect(identity.fetches()).toBe(1);
  clock.advance(600_000);
  expect(await outcome(access, tokens[0] as string)).toBe("accepted");
  expect(identity.fetches()).toBe(2);
});

test("after a rotation the new key is found at the first token, and the old one is rejected", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock })]);
  const old = await identity.token("a");
  expect(await outcome(access, old)).toBe("accepted");
  const next = await createIdentityKey("second", "RS256");
  identity.publish(next.jwk);
  clock.advance(30_000);
  expect(await outcome(access, await identity.token("a", {}, next))).toBe("accepted");
  expect(identity.fetches()).toBe(2);
  expect(await outcome(access, old)).toBe("key");
});

test("unknown key ids cause one fetch per cooldown, not one each", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock })]);
  await outcome(access, await identity.token("a"));
  clock.advance(30_000);
  const stranger = await createIdentityKey("x");
  for (let index = 0; index < 50; index++) {
    const token = await identity.token("a", {}, { ...stranger, kid: `made-up-${index}` });
    expect(await outcome(access, token)).toBe("key");
  }
  expect(identity.fetches()).toBe(2);
});

test("during an outage the last valid keys are used, but not for ever", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock, staleMs: 3_600_000 })]);
  const token = await identity.token("a", { exp: Math.floor(Date.now() / 1000) + 86_400 });
  expect(await outcome(access, token)).toBe("accepted");
  identity.answer((_request, response) => void response.writeHead(500).end());
  clock.advance(600_000 + 3_599_000);
  expect(await outcome(access, token)).toBe("accepted");
  clock.advance(60_000);
  expect(await outcome(access, token)).toBe("ERR_ACCESS_KEYS");
  identity.answer(undefined);
  clock.advance(30_000);
  expect(await outcome(access, token)).toBe("accepted");
});

test("a set that redirects, never ends, is too large, or is not a JSON key set is not used", async () => {
  const elsewhere = await startIdentity();
  const answers: Parameters<Identity["answer"]>[0][] = [
    (_request, response) =>
      void response.writeHead(302, { location: elsewhere.jwksUrl.href }).end(),
    (_request, response) => void response.writeHead(200).write("{"),
    (_request, response) =>
      void response.writeHead(200).end(`{"keys":[],"pad":"${"x".repeat(16_384)}"}`),
    (_request, response) => void response.writeHead(200).end("<html>"),
    (_request, response) => void response.writeHead(200).end('{"keys":{}}'),
    (_request, response) =>
      void response
        .writeHead(200)
        .end(JSON.stringify({ keys: Array.from({ length: 101 }, () => ({})) })),
  ];
  for (const answer of answers) {
    identity.answer(answer);
    const access = createAccess([identity.authenticator({ timeoutMs: 500 })]);
    expect(await outcome(access, await identity.token("a"))).toBe("ERR_ACCESS_KEYS");
  }
  expect(elsewhere.fetches()).toBe(0);
  await elsewhere.stop();
});

test("a clock that jumps back does not stop the keys from being fetched", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock })]);
  identity.answer((_request, response) => void response.writeHead(500).end());
  expect(await outcome(access, await identity.token("a"))).toBe("ERR_ACCESS_KEYS");
  identity.answer(undefined);
  clock.advance(-86_400_000);
  expect(await outcome(access, await identity.token("a"))).toBe("accepted");
});

test("an outage of the issuer is reported once with its reason, and its recovery once", async () => {
  const clock = createFakeClock(Date.now());
  let bytes: Uint8Array | undefined;
  const told: (string | undefined)[] = [];
  const { keyOf } = createKeySet({
    issuer: "https://issuer.example",
    clock,
    load: async () => bytes ?? Promise.reject(new TypeError("no answer")),
    cacheMs: 1000,
    cooldownMs: 1000,
    staleMs: 1000,
    onAvailabilityChange: (failure) => told.push(failure?.message),
  });
  const ask = (): Promise<unknown> =>
    keyOf({ alg: "EdDSA", kid: "x" }, { payload: "", signature: "" }).catch(() => undefined);
  for (const answer of [undefined, undefined, `{"keys":[]}`, `{"keys":[]}`, "{"]) {
    bytes = answer === undefined ? undefined : new TextEncoder().encode(answer);
    await ask();
    clock.advance(2000);
  }
  expect(told).toEqual(["no answer", undefined, expect.any(String)]);
});

test("an open grant ends when the issuer withdraws its key, and stays during an outage", async () => {
  const clock = createFakeClock(Date.now());
  const access = createAccess([identity.authenticator({ clock })]);
  const exp = Math.floor(Date.now() / 1000) + 86_400;
  const { isValid } = await access.authenticate(await identity.token("a", { exp }));
  identity.answer((_request, response) => void response.writeHead(500).end());
  clock.advance(7_200_000);
  expect(isValid()).toBe(true);
  await vi.waitFor(() => expect(identity.fetches()).toBe(2));
  expect(isValid()).toBe(true);
  const next = await createIdentityKey("second");
  identity.publish(next.jwk);
  identity.answer(undefined);
  clock.advance(30_000);
  await vi.waitFor(() => expect(isValid()).toBe(false));
});

test("a grant that another gateway restores names the key, and ends with it", async () => {
  const clock = createFakeClock(Date.now());
  const { name } = await createAccess([identity.authenticator({ clock })]).authenticate(
    await identity.token("a"),
  );
  identity.publish((await createIdentityKey("second")).jwk);
  const restored = createAccess([identity.authenticator({ clock })]).restore?.(name as GrantName);
  await vi.waitFor(() => expect(restored?.isValid()).toBe(false));
});
