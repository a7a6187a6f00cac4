import { afterEach, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const APP = "https://app.example";
const start = async (...origins: string[]): Promise<void> => {
  fixture = await startFixture(HELD_AGENT, { gateway: { origins, access: createAccess([]) } });
};
const preflight = (path: string, origin: string, method = "POST"): Promise<Response> =>
  fetch(`${fixture.url}${path}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type",
    },
  });

test("a preflight of a listed origin needs no credential, and never allows cookies", async () => {
  await start(APP);
  for (const path of ["/agents/support", "/ag-ui/run", "/ag-ui/tickets", "/ag-ui/stop"]) {
    const answer = await preflight(path, APP);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
    expect(answer.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(answer.headers.get("access-control-allow-headers")).toContain("countersign-receipts");
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, POST");
    expect(answer.headers.get("access-control-max-age")).toBe("600");
    expect(answer.headers.get("vary")).toContain("origin");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test("a foreign origin, an unknown path and a wrong method are refused", async () => {
  await start(APP);
  const foreign = await preflight("/ag-ui/run", "https://evil.example");
  expect(foreign.status).toBe(403);
  expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  expect((await preflight("/nowhere", APP)).status).toBe(404);
  expect((await preflight("/ag-ui/run", APP, "DELETE")).status).toBe(405);
});

test("a page of a listed origin can read a refusal", async () => {
  await start(APP);
  const answer = await fetch(`${fixture.url}/ag-ui/run`, {
    method: "POST",
    headers: { origin: APP },
  });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
  expect(answer.headers.get("access-control-expose-headers")).toContain("www-authenticate");
});

test("with * every page may call, since only the credential that it holds decides", async () => {
  await start("*");
  const answer = await preflight("/ag-ui/run", "https://any.example");
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
});
