import { request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startServed } from "../testing/served.js";

const silent = () => ({ pieces: [] });

function statusUnder(url: string, host: string, path = "/metrics"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("public metrics are not served to a page whose name resolves here: foreign names need the token", async () => {
  const served = await startServed(silent, { config: "metrics: { public: true }\n" });
  const { controlUrl } = served.running;
  try {
    for (const host of ["127.0.0.1:1", "[::1]:8081", "10.0.0.7", "localhost:8081", "gateway:8081"])
      expect([host, await statusUnder(controlUrl, host)]).toEqual([host, 200]);
    for (const host of [
      "evil.example",
      "evil.example:8081",
      "127.0.0.1.evil.example",
      "localhost.",
    ])
      expect([host, await statusUnder(controlUrl, host)]).toEqual([host, 401]);
    expect(await statusUnder(controlUrl, "127.0.0.1", "/v1/status")).toBe(401);
    const asked = await served.control("/metrics");
    expect(asked.status).toBe(200);
  } finally {
    await served.stop();
  }
});

test("headers that never end get no more time on the control plane than on the data plane", async () => {
  const served = await startServed(silent, {
    config: "limits: { headers_timeout: 1, request_timeout: 1 }\n",
  });
  const { hostname, port } = new URL(served.running.controlUrl);
  const socket = connect(Number(port), hostname);
  try {
    socket.write("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Drip: ");
    const drip = setInterval(() => socket.write("x"), 100);
    let said = "";
    socket.on("data", (part) => (said += String(part)));
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(drip);
    expect(said).toContain("408");
  } finally {
    socket.destroy();
    await served.stop();
  }
}, 10_000);
