import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Browser } from "../../testing/browser.js";
import { startIdentityProvider } from "../../testing/identity-provider.js";
import type { IdentityProvider } from "../../testing/identity-provider.js";
import { startServed } from "../../testing/served.js";
import type { Served } from "../../testing/served.js";

let provider: IdentityProvider;
let served: Served;
let url: string;
let callback: string;

/** A port that was free a moment ago: the provider must know the address of the gateway before it starts. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => void probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => void probe.close(resolve));
  return port;
}

const oidcBlock = (issuer: string, more = ""): string =>
  `oidc:\n  issuer: ${issuer}\n  client_id: gateway\n  client_secret: the-secret-of-the-gateway\n  name: Example Login\n` +
  `  roles: { claim: groups, map: { watchers: viewer, on-call: operator, owners: admin } }\n${more}`;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  callback = `${url}/v1/login/oidc/callback`;
  provider = await startIdentityProvider({ redirect: callback });
  served = await startServed(() => ({ pieces: [] }), {
    control: `port: ${port}\n${oidcBlock(provider.issuer)}`,
  });
});
afterAll(async () => {
  await served.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.user = { id: "alice", claims: { groups: ["on-call", "watchers"] } };
});

const start = `/v1/login/oidc`;
const lineOf = (code: string) => served.lines.findLast((line) => line["code"] === code);

async function login(browser = new Browser()): Promise<{ browser: Browser; response: Response }> {
  const back = await browser.followUntil(url + start, callback);
  return { browser, response: await browser.fetch(back) };
}

test("a login by code, PKCE, state and nonce opens a session with the highest role of the user's groups", async () => {
  expect(await (await fetch(`${url}/v1/login`)).json()).toEqual({
    methods: ["token", "oidc"],
    oidc: { name: "Example Login" },
  });
  const browser = new Browser();
  const begun = await browser.fetch(url + start);
  expect(begun.headers.get("set-cookie")).toMatch(
    /^countersign-login=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/u,
  );
  const asked = new URL(begun.headers.get("location") ?? "").searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/u),
    state: expect.stringMatching(/^[\w-]{43}$/u),
    nonce: expect.stringMatching(/^[\w-]{43}$/u),
    redirect_uri: callback,
  });
  const { response } = await login(browser);
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toBe("/v1/me");
  expect(response.headers.getSetCookie().join("\n")).toMatch(
    /countersign-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict/u,
  );
  const me = await (await browser.fetch(`${url}/v1/me`)).json();
  expect(me).toEqual({
    operator: "oidc:alice",
    role: "operator",
    method: "oidc",
    csrf: expect.stringMatching(/^[\w-]{43}$/u),
  });
  expect(served.lines.findLast((line) => line["msg"] === "operator logged in")).toMatchObject({
    operator: "oidc:alice",
    role: "operator",
    address: "127.0.0.1",
  });
});

test("a user without a role is refused with a page that shows the name as text", async () => {
  provider.user = { id: "<b>mallory", claims: { groups: ["staff", "constructor", "__proto__"] } };
  const { browser, response } = await login();
  expect(response.status).toBe(403);
  const page = await response.text();
  expect(page).toContain("You have no role at this gateway");
  expect(page).toContain("oidc:&lt;b&gt;mallory");
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(browser.cookie(url, "countersign-session")).toBeUndefined();
  expect((await browser.fetch(`${url}/v1/me`)).status).toBe(401);
  expect(lineOf("LOGIN_NO_ROLE")).toMatchObject({ operator: "oidc:<b>mallory" });
});

test.each([{ groups: "owners" }, { groups: ["owners"] }])(
  "the claim may be one group or a list: %o",
  async (claims) => {
    provider.user = { id: "carol", claims };
    const { browser } = await login();
    expect(await (await browser.fetch(`${url}/v1/me`)).json()).toMatchObject({ role: "admin" });
  },
);

test("a response is used once: a repeated one opens nothing and does not reach the provider", async () => {
  const browser = new Browser();
  const back = await browser.followUntil(url + start, callback);
  const flow = browser.cookie(url, "countersign-login") ?? "";
  expect((await browser.fetch(back)).status).toBe(303);
  const before = provider.tokenRequests;
  const again = await fetch(back, { headers: { cookie: `countersign-login=${flow}` } });
  expect(again.status).toBe(400);
  expect(again.headers.getSetCookie().join("\n")).not.toContain("countersign-session=");
  expect(await again.text()).toContain("This login is over");
  expect(provider.tokenRequests).toBe(before);
});

test("a response that another browser began opens nothing", async () => {
  const attacker = new Browser();
  const back = await attacker.followUntil(url + start, callback);
  const bare = await new Browser().fetch(back);
  expect(bare.status).toBe(400);
  // A victim with a login of its own has another state.
  const victim = new Browser();
  await victim.fetch(url + start);
  const mixed = await victim.fetch(back);
  expect(mixed.status).toBe(403);
  expect(victim.cookie(url, "countersign-session")).toBeUndefined();
  expect(lineOf("LOGIN_REFUSED")).toMatchObject({ method: "oidc", address: "127.0.0.1" });
});

test("a code that was taken from another login is refused by PKCE and nonce", async () => {
  const [one, other] = [new Browser(), new Browser()];
  const stolen = new URL(await one.followUntil(url + start, callback)).searchParams.get("code");
  const back = new URL(await other.followUntil(url + start, callback));
  back.searchParams.set("code", stolen ?? "");
  const response = await other.fetch(back.href);
  expect(response.status).toBe(403);
  expect(other.cookie(url, "countersign-session")).toBeUndefined();
});

test("an error of the provider is a page, and no parameter of the request leads elsewhere", async () => {
  const browser = new Browser();
  const begun = await browser.fetch(
    `${url}${start}?return=https://evil.example&redirect_uri=//evil.example`,
  );
  const asked = new URL(begun.headers.get("location") ?? "");
  expect(asked.origin).toBe(provider.issuer);
  expect(asked.searchParams.get("redirect_uri")).toBe(callback);
  const state = asked.searchParams.get("state") ?? "";
  const query = new URLSearchParams({
    error: "access_denied",
    error_description: "<script>alert(1)</script>",
    iss: provider.issuer,
    state,
    return: "https://evil.example",
  });
  const response = await browser.fetch(`${callback}?${query}`);
  expect(response.status).toBe(403);
  const page = await response.text();
  expect(page).toContain("access_denied");
  expect(page).not.toContain("script");
  expect(page).not.toContain("evil");
});

test("a session from before the login is worth nothing afterwards", async () => {
  const { browser } = await login();
  const planted = browser.cookie(url, "countersign-session");
  await login(browser);
  expect(browser.cookie(url, "countersign-session")).not.toBe(planted);
  const old = await fetch(`${url}/v1/me`, {
    headers: { cookie: `countersign-session=${planted}` },
  });
  expect(old.status).toBe(401);
  const chosen = { headers: { cookie: "countersign-session=chosen-by-somebody" } };
  expect((await fetch(`${url}/v1/me`, chosen)).status).toBe(401);
});

test("a change by an operator of the provider is a receipt under a name that no token can have", async () => {
  provider.user = { id: "carol", claims: { groups: ["owners"] } };
  const { browser } = await login();
  const { csrf } = (await (await browser.fetch(`${url}/v1/me`)).json()) as { csrf: string };
  const headers = { "x-countersign-csrf": csrf };
  const response = await browser.fetch(`${url}/v1/policy/reload`, { method: "POST", headers });
  expect(response.status).toBe(200);
  const found = await served.control("/v1/receipts?event_type=custom:operator.policy-reload");
  expect(await found.json()).toMatchObject({
    entries: [{ receipt: { target: { component_id: "oidc:carol" } } }],
  });
});

test("roles may be in the userinfo endpoint, under a path, and the name in another claim", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const redirect = `${address}/v1/login/oidc/callback`;
  const other = await startIdentityProvider({ redirect, claimsIn: "userinfo" });
  const roles = "  roles: { claim: realm_access.roles, map: { watcher: viewer } }\n";
  const block = oidcBlock(other.issuer, "  operator_claim: email\n").replace(
    / {2}roles: .*\n/u,
    roles,
  );
  const gateway = await startServed(() => ({ pieces: [] }), { control: `port: ${port}\n${block}` });
  const tryLogin = async (claims: object): Promise<unknown> => {
    other.user = { id: "dave", claims: { ...claims } };
    const browser = new Browser();
    const back = await browser.followUntil(`${address}/v1/login/oidc`, redirect);
    await browser.fetch(back);
    return (await browser.fetch(`${address}/v1/me`)).json();
  };
  try {
    const claims = { realm_access: { roles: ["watcher"] }, email: "dave@example.org" };
    expect(await tryLogin({ ...claims, email_verified: true })).toMatchObject({
      operator: "oidc:dave@example.org",
      role: "viewer",
    });
    // Whoever may write any address into a profile could take the name of somebody else.
    expect(await tryLogin({ ...claims, email_verified: false })).toMatchObject({ status: 401 });
    expect(await tryLogin({ ...claims, realm_access: { roles: "none" } })).toMatchObject({
      status: 401,
    });
  } finally {
    await gateway.stop();
    await other.stop();
  }
});

test("a provider that does not respond is a page and a line in the log; tokens still work", async () => {
  const gateway = await startServed(() => ({ pieces: [] }), {
    control: oidcBlock(`http://127.0.0.1:${await freePort()}`),
  });
  try {
    const response = await fetch(`${gateway.running.controlUrl}/v1/login/oidc`, {
      redirect: "manual",
    });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("The identity provider does not respond");
    expect((await gateway.control("/v1/me")).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
