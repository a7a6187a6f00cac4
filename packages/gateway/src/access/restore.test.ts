import { createFakeClock } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { createAccess, OPEN_ACCESS, ANONYMOUS } from "./access.js";
import type { Access, Authenticator, GrantName } from "./access.js";
import { createKeyAuthenticator, createApiKey } from "./api-keys.js";
import type { ApiKeyEntry } from "./api-keys.js";
import type { JwtOptions } from "./jwt.js";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** The name of a grant, as a ticket contains it. */
const named = async (access: Access, token: string | undefined): Promise<GrantName> => {
  const { name } = await access.authenticate(token);
  return JSON.parse(JSON.stringify(name)) as GrantName;
};

test("a gateway with the same requirements restores a token's grant until the token expires", async () => {
  const clock = createFakeClock(Date.now());
  const of = (options: Partial<JwtOptions> = {}): Access =>
    createAccess([identity.authenticator({ clock, ...options })]);
  const exp = Math.floor(clock.now() / 1000) + 60;
  const name = await named(of(), await identity.token("alice", { exp }));
  const restored = of().restore?.(name);
  expect(restored?.principal).toEqual({
    id: `jwt:${identity.issuer} alice`,
    expiresAt: exp * 1000,
  });
  expect(restored?.isValid()).toBe(true);
  for (const stricter of [
    { scopes: ["admin"] },
    { audience: ["another"] },
    { clientIds: ["app"] },
    { issuer: "https://other.example" },
    { principalClaim: "email" },
    { algorithms: ["RS256"] },
  ]) {
    expect(of(stricter).restore?.(name)).toBeUndefined();
  }
  const { way, principal } = name;
  expect(of().restore?.({ way, principal })).toBeUndefined();
  clock.advance(60_000);
  expect(restored?.isValid()).toBe(false);
});

test("a gateway that lists the same key restores its grant, until the line is removed", async () => {
  const [key, fresh] = [createApiKey(), createApiKey()];
  const listing = (...entries: ApiKeyEntry[]): Authenticator =>
    createKeyAuthenticator(() => entries);
  const entry = { name: "bot", hash: key.hash };
  const other = { name: "other", hash: fresh.hash };
  const name = await named(createAccess([listing(entry)]), key.key);
  expect(JSON.stringify(name)).not.toContain(key.hash.slice(7));
  let entries: ApiKeyEntry[] = [other, entry];
  // Two lists may hold the key; each is tried.
  const access = createAccess([listing(other), createKeyAuthenticator(() => entries)]);
  const restored = access.restore?.(name);
  expect(restored?.principal).toEqual({ id: "key:bot" });
  expect(restored?.isValid()).toBe(true);
  entries = [{ name: "bot", hash: fresh.hash }];
  expect(restored?.isValid()).toBe(false);
  expect(access.restore?.(name)).toBeUndefined();
  entries = [{ name: "robot", hash: key.hash }];
  expect(access.restore?.(name)).toBeUndefined();
});

test("an anonymous grant is restored only where anonymous clients are accepted", async () => {
  const open = createAccess([identity.authenticator()], { allowAnonymous: true });
  const closed = createAccess([identity.authenticator()]);
  const name = await named(open, undefined);
  expect(open.restore?.(name)?.principal).toEqual(ANONYMOUS);
  expect(OPEN_ACCESS.restore?.(name)?.principal).toEqual(ANONYMOUS);
  expect(closed.restore?.(name)).toBeUndefined();
  const alice = await named(closed, await identity.token("alice"));
  expect(OPEN_ACCESS.restore?.(alice)).toBeUndefined();
  expect(OPEN_ACCESS.restore?.({ ...name, principal: alice.principal })).toBeUndefined();
});
