import { expect, test } from "vitest";
import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { GatewayConfig } from "./config.js";
import { loadConfig } from "./load.js";

const AGENT = "agents:\n  a:\n    url: http://h/\n";
const HASH = `sha256:${"0".repeat(64)}`;
const load = (text: string): GatewayConfig =>
  loadConfig(`${AGENT}${text}`, { file: "/srv/countersign.yaml", environment: {} });

test("without an access block, every client on this machine may connect", () => {
  expect(load("").access).toMatchObject({ modes: ["none"] });
  expect(load("").limits).toEqual(DEFAULT_LISTEN_LIMITS);
});

test("a JWT issuer needs three lines; everything else has strict defaults", () => {
  const { access } = load(
    "listen: { host: 0.0.0.0 }\naccess:\n  mode: jwt\n  jwt:\n    issuer: https://login.example\n    audience: countersign\n    jwks: keys/jwks.json\n",
  );
  expect(access.issuers[0]).toMatchObject({
    audience: ["countersign"],
    clientIds: [],
    jwks: "/srv/keys/jwks.json",
    toleranceMs: 5000,
    principalClaim: "sub",
  });
  expect(access.issuers[0]?.algorithms.some((name) => name.startsWith("HS"))).toBe(false);
});

test("several modes, several issuers, keys inline and in a file", () => {
  const { access } = load(
    `access:\n  mode: [jwt, keys, none]\n  jwt:\n    - { issuer: a, audience: [x, y], jwks: "https://a.example/jwks", scopes: [run] }\n    - { issuer: b, audience: z, jwks: "http://127.0.0.1:9/jwks" }\n  keys:\n    entries: { bot: "${HASH}" }\n    file: keys.txt\n`,
  );
  expect(access.modes).toEqual(["jwt", "keys", "none"]);
  expect(access.issuers.map(({ issuer }) => issuer)).toEqual(["a", "b"]);
  expect(access.keys).toEqual([{ name: "bot", hash: HASH }]);
  expect(access.keyFile).toBe("/srv/keys.txt");
});

test("limits are given in seconds and bytes", () => {
  const { limits } = load(
    "limits: { connections: 5, headers_timeout: 0.5, trusted_proxies: [10.0.0.0/8], socket_idle: 60 }\n",
  );
  expect(limits).toEqual({
    ...DEFAULT_LISTEN_LIMITS,
    connections: 5,
    headersTimeoutMs: 500,
    socketIdleMs: 60_000,
    trustedProxies: ["10.0.0.0/8"],
  });
});

test("only explicit opt-in keys allow what is otherwise refused", () => {
  const open = load(
    "listen: { host: 0.0.0.0 }\naccess: { mode: none, i_understand_that_anyone_can_connect: true }\n",
  );
  expect(open.access.modes).toEqual(["none"]);
  const control = load(
    "control: { host: 0.0.0.0, i_understand_that_the_admin_token_travels_in_clear: true }\n",
  );
  expect(control.control.host).toBe("0.0.0.0");
});

test.each([
  ["listen:\n  host: 0.0.0.0\n", /countersign\.yaml:5:9: anyone who reaches 0\.0\.0\.0.*mode jwt/],
  ['listen: { host: "::" }\naccess:\n  mode: none\n', /6:9: anyone who reaches ::/],
  [
    "listen: { host: gateway.internal }\naccess: { mode: [keys, none], keys: { file: k } }\n",
    /5:17: anyone/,
  ],
  ["control:\n  host: 10.0.0.1\n", /5:9: tokens of operators would travel.*Fix: set control\.tls/],
  ["access:\n  mode: jwt\n", /mode jwt needs the block jwt/],
  ["access:\n  mode: keys\n", /countersign keys api NAME/],
  ["access:\n  mode: []\n", /at least one way/],
  ["access: { mode: keys, keys: { entries: { bot: secret } } }\n", /4:\d+: .*bot/],
  [
    "access: { mode: jwt, jwt: { issuer: a, audience: b, jwks: http://login.example/jwks } }\n",
    /must be an https/,
  ],
  [
    "access: { mode: jwt, jwt: { issuer: a, audience: b, jwks: k, algorithms: [HS256] } }\n",
    /algorithms/,
  ],
  ["access: { mode: jwt, jwt: { issuer: a b, audience: b, jwks: k } }\n", /issuer/],
  [
    "access:\n  mode: jwt\n  jwt: { issuer: a, jwks: k }\n",
    /6:8: jwt needs audience or client_ids/,
  ],
  [
    "access: { mode: jwt, jwt: { issuer: a, audience: [], client_ids: [], jwks: k } }\n",
    /needs audience or client_ids/,
  ],
  ["access: { mode: password }\n", /mode/],
  ['origins: ["*"]\n', /4:\d+: every page/],
  ["origins: [https://app.example/]\n", /4:\d+: an origin is scheme and host/],
  ["limits: { trusted_proxies: [10.0.0.0/33] }\n", /4:\d+: not an address/],
  ["limits: { body_bytes: 10485761 }\n", /at most 10485760/],
])("%j is refused with its position and a fix", (text, message) => {
  expect(() => load(text)).toThrow(message);
});
