import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { frames, idsOf, run } from "../testing/diagnose.js";
import { examine } from "./doctor.js";
import type { DoctorReport } from "./report.js";

/** An agent that answers for its capabilities with this. */
async function examined(answer: { body: string; type?: string }): Promise<DoctorReport> {
  const server = createServer((request, response) => {
    if (request.url === "/agent/capabilities") {
      response.setHeader("content-type", answer.type ?? "application/json");
      response.end(answer.body);
      return;
    }
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      response.end(request.method === "POST" ? frames(run(idsOf(body))) : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await examine(`http://127.0.0.1:${port}/agent`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("the capabilities of an agent are checked and named", async () => {
  const body = JSON.stringify({ identity: { name: "a" }, tools: { supported: true }, "x-new": 1 });
  const { capabilities } = await examined({ body });
  expect(capabilities).toEqual({ isValid: true, groups: ["identity", "tools", "x-new"] });
});

test("malformed capabilities are told, and the stream is judged without them", async () => {
  const { capabilities, layers } = await examined({ body: '{"tools":{"supported":"yes"}}' });
  expect(capabilities).toMatchObject({
    isValid: false,
    problem: expect.stringContaining("/tools/supported"),
  });
  expect(layers.at(-1)?.status).not.toBe("fail");
});

test("another answer than JSON, or one that is too long, says nothing", async () => {
  expect(await examined({ body: "<p>", type: "text/html" })).not.toHaveProperty("capabilities");
  const long = await examined({ body: JSON.stringify({ custom: { a: "x".repeat(70_000) } }) });
  expect(long).not.toHaveProperty("capabilities");
});
