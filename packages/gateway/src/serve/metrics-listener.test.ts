import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

let served: Served;
let url: string;
beforeAll(async () => {
  served = await startServed(() => ({ pieces: [] }), {
    config: "metrics: { port: 0, names: [gateway.monitoring.svc] }\n",
  });
  url = served.running.metricsUrl ?? "";
});
afterAll(() => served.stop());

function status(host: string, options: { method?: string; path?: string } = {}) {
  return new Promise<number | undefined>((resolve, reject) => {
    const address = options.path === undefined ? url : new URL(options.path, url);
    const asked = request(address, { headers: { host }, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("a scraper reads the metrics without a credential, on a listener that has nothing else", async () => {
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toContain("version=0.0.4");
  expect(await response.text()).toContain("countersign_ready 1");
  expect(await status("127.0.0.1", { path: "/metrics?x=1" })).toBe(200);
  for (const path of ["/v1/status", "/", "/console", "/v1/policy", "/metrics/"])
    expect([path, await status("127.0.0.1", { path })]).toEqual([path, 404]);
  expect(await status("127.0.0.1", { method: "POST" })).toBe(405);
  // The admin plane is as closed as without it.
  expect((await fetch(`${served.running.controlUrl}/metrics`)).status).toBe(401);
  expect((await served.control("/metrics")).status).toBe(200);
});

test("a page whose name resolves here cannot read them; configured names can", async () => {
  for (const host of ["127.0.0.1:9464", "[::1]", "gateway:9464", "Gateway.Monitoring.SVC:9464"])
    expect([host, await status(host)]).toEqual([host, 200]);
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost."])
    expect([host, await status(host)]).toEqual([host, 403]);
});
