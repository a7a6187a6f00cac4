import { loadConfig } from "@countersign/gateway";
import { expect, test } from "vitest";
import { askAgents } from "./ask-agents.js";

test("what is said of an agent that does not answer names its address without name, password and query", async () => {
  const url = "http://someone:hunter2@127.0.0.1:9/agent?key=hidden";
  const { agents } = loadConfig(`agents: { a: { url: "${url}" } }\n`, {
    file: "countersign.yaml",
    environment: {},
  });
  const [asked] = await askAgents(agents);
  expect(asked).toMatchObject({ name: "a", ok: false });
  expect(asked?.says).toContain("countersign doctor http://127.0.0.1:9/agent?… says more");
  for (const secret of ["someone", "hunter2", "hidden"]) expect(asked?.says).not.toContain(secret);
});
