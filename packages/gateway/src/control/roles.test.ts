import { afterAll, beforeAll, expect, test } from "vitest";
import { createOperatorToken, includesRole, ROLES } from "../access/operators.js";
import type { Role } from "../access/operators.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { CONTROL_API } from "./openapi.js";

type Operation = { readonly "x-countersign-role": Role | "none" };
const PATHS = CONTROL_API["paths"] as Record<string, Record<string, Operation>>;

const tokens = Object.fromEntries(ROLES.map((role) => [role, createOperatorToken()]));
let served: Served;
beforeAll(async () => {
  const lines = ROLES.map(
    (role) => `    - { name: the-${role}, role: ${role}, token: "${tokens[role]?.hash}" }\n`,
  );
  served = await startServed(() => ({ pieces: [] }), {
    control: `operators:\n${lines.join("")}`,
  });
});
afterAll(() => served.stop());

const ask = (method: string, path: string, headers: Record<string, string>) =>
  fetch(served.running.controlUrl + path, { method: method.toUpperCase(), headers });

/** A path of the template that reaches its route and changes nothing. */
const example = (path: string): string => path.replaceAll(/\{\w+\}/gu, "nothing");

async function outcome(response: Response): Promise<string> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("application/problem+json")) {
    await response.body?.cancel();
    return "passed";
  }
  const { code } = (await response.json()) as { code: string };
  const refusals = ["UNAUTHORIZED", "TOO_MANY_TRIES", "ERR_CONTROL_ROLE", "ERR_CONTROL_CSRF"];
  return refusals.includes(code) ? code.replace("TOO_MANY_TRIES", "UNAUTHORIZED") : "passed";
}

async function login(role: Role): Promise<string> {
  const response = await fetch(`${served.running.controlUrl}/v1/login`, {
    method: "POST",
    body: JSON.stringify({ token: tokens[role]?.key }),
  });
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const OPERATIONS = Object.entries(PATHS).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method,
    path,
    needed: operation["x-countersign-role"],
  })),
);

test.each(OPERATIONS)(
  "$method $path needs $needed, and a browser's change its CSRF token",
  async ({ method, path, needed }) => {
    const place = example(path);
    const isOpen = needed === "none";
    // The login itself refuses a stranger, by the token.
    const isLogin = path === "/v1/login" && method === "post";
    const stranger = isLogin ? "passed" : await outcome(await ask(method, place, {}));
    expect(stranger).toBe(isOpen ? "passed" : "UNAUTHORIZED");
    for (const role of ROLES) {
      const headers = { authorization: `Bearer ${tokens[role]?.key}` };
      const expected = isOpen || includesRole(role, needed) ? "passed" : "ERR_CONTROL_ROLE";
      expect([role, await outcome(await ask(method, place, headers))]).toEqual([role, expected]);
    }
    const cookie = await login("admin");
    const expected = isOpen || method === "get" ? "passed" : "ERR_CONTROL_CSRF";
    expect(await outcome(await ask(method, place, { cookie }))).toBe(expected);
  },
);

test("a refusal names the role that is needed and the one that the operator has", async () => {
  const headers = { authorization: `Bearer ${tokens["viewer"]?.key}` };
  const response = await ask("post", "/v1/policy/reload", headers);
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({
    code: "ERR_CONTROL_ROLE",
    title: expect.stringMatching(/the-viewer is viewer; this needs the role admin\. Fix: /u),
  });
});

test("a path without a route is no secret to operators, and one to everybody else", async () => {
  expect(await outcome(await ask("get", "/v1/nothing", {}))).toBe("UNAUTHORIZED");
  const headers = { authorization: `Bearer ${tokens["viewer"]?.key}` };
  expect((await ask("get", "/v1/nothing", headers)).status).toBe(404);
});
