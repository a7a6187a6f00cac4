import { createFakeClock } from "@countersign/testkit";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../config/load.js";
import { SILENT_JOURNAL } from "../base/ports.js";
import { createIdentityKey, startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import type { Access } from "../access/access.js";
import { createApiKey } from "../access/api-keys.js";
import { openAccess } from "./open-access.js";

let folder: string;
let identity: Identity;
const clock = createFakeClock(Date.now());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-access-"));
  identity = await startIdentity();
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await identity.stop();
});

/** Opens the access block of a configuration. */
function open(block: string): Access {
  const text = `agents: { a: { url: "http://h/" } }\naccess:\n${block}`;
  const { access } = loadConfig(text, { file: join(folder, "countersign.yaml"), environment: {} });
  return openAccess(access, clock, SILENT_JOURNAL).access;
}
const whoIs = (access: Access, token: string | undefined): Promise<string> =>
  access.authenticate(token).then(
    ({ principal }) => principal.id,
    (error: { code: string }) => error.code,
  );

test("tokens and keys work together: each is checked by its own authenticator", async () => {
  const [inline, listed] = [createApiKey(), createApiKey()];
  writeFileSync(join(folder, "keys.txt"), `robot ${listed.hash}\n`);
  const access = open(
    `  mode: [jwt, keys]\n  jwt: { issuer: "${identity.issuer}", audience: countersign-test, jwks: "${identity.jwksUrl.href}" }\n  keys: { entries: { bot: "${inline.hash}" }, file: keys.txt }\n`,
  );
  expect(await whoIs(access, await identity.token("alice"))).toBe(`jwt:${identity.issuer} alice`);
  expect(await whoIs(access, inline.key)).toBe("key:bot");
  expect(await whoIs(access, listed.key)).toBe("key:robot");
  expect(await whoIs(access, createApiKey().key)).toBe("ERR_ACCESS_TOKEN");
  expect(await whoIs(access, undefined)).toBe("ERR_ACCESS_MISSING");
});

test("a key set in a file is reloaded when it changes, and without it every token is rejected", async () => {
  const first = await createIdentityKey("first");
  const file = join(folder, "jwks.json");
  const access = open(
    "  mode: [jwt, none]\n  jwt: { issuer: me, audience: countersign-test, jwks: jwks.json }\n",
  );
  const token = await identity.token("alice", { iss: "me" }, first);
  expect(await whoIs(access, token)).toBe("ERR_ACCESS_KEYS");
  expect(await whoIs(access, undefined)).toBe("anonymous");
  writeFileSync(file, JSON.stringify({ keys: [first.jwk] }));
  clock.advance(1000);
  expect(await whoIs(access, token)).toBe("jwt:me alice");
  writeFileSync(file, JSON.stringify({ keys: [(await createIdentityKey("second")).jwk] }));
  clock.advance(5000);
  expect(await whoIs(access, token)).toBe("ERR_ACCESS_TOKEN");
});

test("a named pipe in place of a key set does not block, and every token is rejected", async () => {
  execFileSync("mkfifo", [join(folder, "jwks.json")]);
  const access = open(
    "  mode: jwt\n  jwt: { issuer: me, audience: countersign-test, jwks: jwks.json }\n",
  );
  const token = await identity.token("alice", { iss: "me" }, await createIdentityKey("first"));
  expect(await whoIs(access, token)).toBe("ERR_ACCESS_KEYS");
});

test("mode none ignores any credential", async () => {
  const access = open("  mode: none\n");
  expect(await whoIs(access, "whatever")).toBe("anonymous");
});

test("a missing key file fails the start", () => {
  expect(() => open("  mode: keys\n  keys: { file: missing.txt }\n")).toThrow(/does not exist/);
});
