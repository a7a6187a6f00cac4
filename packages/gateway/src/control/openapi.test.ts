import { readFileSync } from "node:fs";
import { sseFrame } from "@countersign/testkit";
import { loadPolicy } from "@countersign/policy";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test, vi } from "vitest";
import { OPEN_POLICY } from "../testing/fixture.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { operatorAccess } from "../testing/operator-access.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";
import { createControlApp } from "./app.js";
import { CONTROL_API } from "./openapi.js";

type Operation = { responses: Record<string, { content: Record<string, { schema?: object }> }> };
const PATHS = CONTROL_API["paths"] as Record<string, Record<string, Operation>>;
const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
ajv.addSchema({ $id: "api", components: CONTROL_API["components"] } as object);
for (const keyword of ["components"]) ajv.addKeyword(keyword);

async function check(
  served: Served,
  method: string,
  template: string,
  path: string,
  init: RequestInit = {},
) {
  const response = await served.control(path, { ...init, method: method.toUpperCase() });
  const described = PATHS[template]?.[method]?.responses[response.status];
  expect(described, `${method} ${path} answered ${response.status}`).toBeDefined();
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  if (response.status === 204) return { status: 204, body: undefined };
  const content = described?.content[type];
  expect(content, `${method} ${path} answered ${type}`).toBeDefined();
  const body = type.endsWith("json") ? ((await response.json()) as unknown) : undefined;
  if (body === undefined) await response.body?.cancel();
  const { $ref } = (content?.schema ?? {}) as { $ref?: string };
  const validate = $ref === undefined ? undefined : ajv.getSchema(`api${$ref}`);
  const isValid = validate === undefined || validate(body) === true;
  expect(isValid, `${method} ${path}: ${JSON.stringify(validate?.errors)}`).toBe(true);
  return { status: response.status, body };
}

const OPEN_HASH = loadPolicy(OPEN_POLICY).hash;
const json = (value: unknown): RequestInit => ({ body: JSON.stringify(value) });

test("every route of the server is described, and every described one responds as described, refusals too", async () => {
  const served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), text("m1", "hi")).map(sseFrame) }),
    { config: "evidence: { keep: 1h, events: all }" },
  );
  try {
    const url = `${served.running.dataUrl}/agents/support?session=s1`;
    await (await post(url, { threadId: "t1", runId: "r1" })).text();
    await vi.waitFor(async () =>
      expect((await served.control("/v1/receipts/0/evidence")).status).toBe(200),
    );
    const asked: [
      method: string,
      template: string,
      path: string,
      status: number,
      init?: RequestInit,
    ][] = [
      ["get", "/v1/login", "/v1/login", 200],
      ["post", "/v1/login", "/v1/login", 200, json({ token: served.adminToken })],
      ["post", "/v1/login", "/v1/login", 401, json({ token: "wrong" })],
      ["post", "/v1/login", "/v1/login", 400, json({ key: "x" })],
      ["get", "/v1/login/oidc", "/v1/login/oidc", 404],
      ["get", "/v1/login/oidc/callback", "/v1/login/oidc/callback", 404],
      ["get", "/v1/me", "/v1/me", 200],
      ["post", "/v1/logout", "/v1/logout", 204],
      ["get", "/v1/status", "/v1/status", 200],
      ["get", "/v1/openapi.json", "/v1/openapi.json", 200],
      ["get", "/metrics", "/metrics", 200],
      ["get", "/v1/sessions", "/v1/sessions?limit=1", 200],
      ["get", "/v1/sessions", "/v1/sessions?limit=0", 400],
      ["get", "/v1/sessions", "/v1/sessions?agent=x", 400],
      ["get", "/v1/sessions/{id}", "/v1/sessions/s1", 200],
      ["get", "/v1/sessions/{id}", "/v1/sessions/nobody", 404],
      ["get", "/v1/runs", "/v1/runs?status=finished", 200],
      ["get", "/v1/runs", "/v1/runs?status=odd", 400],
      ["post", "/v1/sessions/{id}/runs/{run}/stop", "/v1/sessions/s1/runs/r1/stop", 409],
      ["post", "/v1/sessions/{id}/runs/{run}/stop", "/v1/sessions/s1/runs/r9/stop", 404],
      ["post", "/v1/sessions/{id}/stop", "/v1/sessions/s1/stop", 202],
      ["post", "/v1/sessions/{id}/stop", "/v1/sessions/nobody/stop", 404],
      [
        "post",
        "/v1/capabilities",
        "/v1/capabilities",
        201,
        json({ agent: "support", scopes: ["ui:*:*"], allow_unowned_session: true }),
      ],
      ["post", "/v1/capabilities", "/v1/capabilities", 400, json({ agent: "support" })],
      [
        "post",
        "/v1/capabilities",
        "/v1/capabilities",
        409,
        json({ agent: "support", session_id: "s9", scopes: ["ui:*:*"] }),
      ],
      ["post", "/v1/capabilities", "/v1/capabilities", 413, json("x".repeat(300_000))],
      ["post", "/v1/capabilities/revoke", "/v1/capabilities/revoke", 200, json({ id: "cap-1" })],
      ["post", "/v1/capabilities/revoke", "/v1/capabilities/revoke", 400, json({})],
      [
        "post",
        "/v1/sessions/{id}/capabilities",
        "/v1/sessions/s1/capabilities",
        400,
        json({ token: "x" }),
      ],
      ["get", "/v1/events", "/v1/events", 200],
      ["get", "/v1/receipts", "/v1/receipts?limit=2", 200],
      ["get", "/v1/receipts", "/v1/receipts?bogus=1", 400],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=rule,allowed&noted=false", 200],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=allowed&bucket=60000", 200],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=allowed&bucket=999", 400],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=principal,tool&bucket=60000", 200],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=tool&bucket=0", 400],
      ["get", "/v1/receipts", "/v1/receipts?q=support&would_block=false", 200],
      ["get", "/v1/receipts", "/v1/receipts?q=", 400],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=payload", 400],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts", 400],
      ["get", "/v1/receipts/counts", "/v1/receipts/counts?by=rule&limit=1", 400],
      ["get", "/v1/receipts/export", "/v1/receipts/export?start=0&limit=3", 200],
      ["get", "/v1/receipts/export", "/v1/receipts/export?limit=5000", 400],
      ["get", "/v1/receipts/{seq}/proof", "/v1/receipts/0/proof", 200],
      ["get", "/v1/receipts/{which}/evidence", "/v1/receipts/0/evidence", 200],
      ["get", "/v1/receipts/{which}/evidence", "/v1/receipts/agui-nothing/evidence", 404],
      ["get", "/v1/runs/{session}/{run}/evidence", "/v1/runs/s1/r1/evidence?limit=2", 200],
      ["get", "/v1/runs/{session}/{run}/evidence", "/v1/runs/s1/r1/evidence?bogus=2", 400],
      ["get", "/v1/receipts/{seq}/proof", "/v1/receipts/999/proof", 404],
      ["get", "/v1/receipts/{seq}/explanation", "/v1/receipts/0/explanation", 200],
      ["get", "/v1/receipts/{seq}/explanation", "/v1/receipts/999/explanation", 404],
      ["get", "/v1/receipts/{seq}/explanation", "/v1/receipts/x/explanation", 400],
      ["get", "/v1/checkpoint", "/v1/checkpoint", 200],
      ["get", "/v1/checkpoint/witnessed", "/v1/checkpoint/witnessed", 404],
      ["get", "/v1/tile/{tile}", "/v1/tile/0/000.p/1", 200],
      ["get", "/v1/tile/{tile}", "/v1/tile/x", 400],
      ["get", "/v1/tile/{tile}", "/v1/tile/0/000", 404],
      ["get", "/v1/explain", "/v1/explain?name=gateway/role", 200],
      ["get", "/v1/explain", "/v1/explain?name=AGENT_TIMEOUT", 200],
      ["get", "/v1/explain", "/v1/explain?name=nobody", 404],
      ["get", "/v1/explain", "/v1/explain?rule=x", 400],
      ["get", "/v1/explain", "/v1/explain", 400],
      ["get", "/v1/policy", "/v1/policy", 200],
      [
        "post",
        "/v1/policy/compare",
        "/v1/policy/compare",
        200,
        json({ text: "ag_ui: { max_events_per_second: 5 }", recorded: 5000 }),
      ],
      ["post", "/v1/policy/compare", "/v1/policy/compare", 422, json({ text: "ag_ui: { no: 1 }" })],
      ["post", "/v1/policy/compare", "/v1/policy/compare", 400, json({ policy: "x" })],
      ["get", "/v1/policy/schema", "/v1/policy/schema", 200],
      ["post", "/v1/policy/check", "/v1/policy/check", 200, json({ text: "ag_ui: { no: 1 }" })],
      ["post", "/v1/policy/check", "/v1/policy/check", 200, json({ text: OPEN_POLICY })],
      ["post", "/v1/policy/check", "/v1/policy/check", 400, json({ policy: "x" })],
      ["get", "/v1/policy/history", "/v1/policy/history", 200],
      [
        "post",
        "/v1/policy/apply",
        "/v1/policy/apply",
        409,
        json({ text: "x", expect: "0".repeat(64) }),
      ],
      [
        "post",
        "/v1/policy/apply",
        "/v1/policy/apply",
        422,
        json({ text: "x: 1", expect: OPEN_HASH }),
      ],
      [
        "post",
        "/v1/policy/apply",
        "/v1/policy/apply",
        200,
        json({ text: OPEN_POLICY, expect: OPEN_HASH, comment: "again" }),
      ],
      [
        "post",
        "/v1/policy/rollback",
        "/v1/policy/rollback",
        409,
        json({ hash: "0".repeat(64), expect: OPEN_HASH }),
      ],
      [
        "post",
        "/v1/policy/rollback",
        "/v1/policy/rollback",
        200,
        json({ hash: OPEN_HASH, expect: OPEN_HASH }),
      ],
      [
        "post",
        "/v1/policy/mode",
        "/v1/policy/mode",
        400,
        json({ block: "ag_ui_nothing", mode: "observe", expect: OPEN_HASH }),
      ],
      [
        "post",
        "/v1/policy/mode",
        "/v1/policy/mode",
        200,
        json({ block: "policy", mode: "observe", expect: OPEN_HASH }),
      ],
      ["post", "/v1/policy/reload", "/v1/policy/reload", 200],
      ["get", "/v1/capabilities", "/v1/capabilities", 200],
      ["get", "/v1/capabilities", "/v1/capabilities?limit=0", 400],
      ["get", "/v1/agents", "/v1/agents", 200],
      ["get", "/v1/stop-all", "/v1/stop-all?agent=support", 200],
      ["get", "/v1/stop-all", "/v1/stop-all?agent=nobody", 400],
      ["get", "/v1/stop-all", "/v1/stop-all?session=s1", 400],
      ["post", "/v1/stop-all", "/v1/stop-all", 400, json({ agent: "nobody" })],
      ["post", "/v1/stop-all", "/v1/stop-all", 409, json({ expect_runs: 7 })],
      ["post", "/v1/stop-all", "/v1/stop-all", 202, json({})],
      ["post", "/v1/agents/{name}/resume", "/v1/agents/support/resume", 200],
      ["post", "/v1/agents/{name}/resume", "/v1/agents/support/resume", 409],
    ];
    for (const [method, template, path, status, init] of asked) {
      const { status: got } = await check(served, method, template, path, init);
      expect(got, `${method} ${path}`).toBe(status);
    }
    const issued = await check(
      served,
      "post",
      "/v1/capabilities",
      "/v1/capabilities",
      json({ agent: "support", scopes: ["ui:*:*"], allow_unowned_session: true }),
    );
    const { token } = issued.body as { token: string };
    const place = "/v1/sessions/{id}/capabilities";
    const kept = await check(
      served,
      "post",
      place,
      "/v1/sessions/s1/capabilities",
      json({ token, allow_unowned_session: true }),
    );
    expect(kept.status).toBe(202);

    const visited = new Set(asked.map(([method, template]) => `${method} ${template}`));
    for (const [path, operations] of Object.entries(PATHS)) {
      for (const method of Object.keys(operations)) expect(visited).toContain(`${method} ${path}`);
    }
  } finally {
    await served.stop();
  }
});

test("the server has no route that the description omits", () => {
  const access = operatorAccess("right");
  const parts = { gateway: { context: {} }, receipts: {}, policy: {}, tokens: {}, access };
  const app = createControlApp(parts as never);
  const routes = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(
      ({ method, path }) =>
        `${method.toLowerCase()} ${path.replace("/v1/tile/*", "/v1/tile/{tile}").replaceAll(/:(\w+)/gu, "{$1}")}`,
    );
  const described = Object.entries(PATHS).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  );
  expect(new Set(routes)).toEqual(new Set(described));
});

test("the description in docs/ is the one that is served, and its page names every route", () => {
  const docs = new URL("../../../../docs/", import.meta.url);
  const kept: unknown = JSON.parse(readFileSync(new URL("control-api.json", docs), "utf8"));
  expect(kept).toEqual(JSON.parse(JSON.stringify(CONTROL_API)));
  const page = readFileSync(new URL("control-api.md", docs), "utf8");
  for (const [path, operations] of Object.entries(PATHS)) {
    for (const method of Object.keys(operations)) {
      expect(page).toContain(`\`${method.toUpperCase()} ${path}\``);
    }
  }
});
