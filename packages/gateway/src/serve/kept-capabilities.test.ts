import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { startFakeAgent, sseFrame } from "@countersign/testkit";
import { loadConfig } from "../config/load.js";
import { idsOf, inRun } from "../testing/events.js";
import { post } from "../testing/transports.js";
import { startGateway } from "./serve.js";

/** Custom events need a capability under the built-in policy. */
test("a capability that was handed to a session works after a restart, with what is left of it, and the list shows it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-kept-"));
  const agent = await startFakeAgent(({ body }) => ({
    pieces: inRun(idsOf(body), [{ type: "CUSTOM", name: "note", value: { a: 1 } }]).map(sseFrame),
  }));
  const config = loadConfig(
    `agents: { support: { url: "${agent.url}" } }\nlisten: { port: 0 }\ncontrol: { port: 0 }\n`,
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  let token = "";
  const begin = async () => {
    const running = await startGateway(config);
    token ||= running.freshAdminToken ?? "";
    const control = async (path: string, body?: object): Promise<Record<string, unknown>> => {
      const response = await fetch(running.controlUrl + path, {
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const run = async (id: string): Promise<string> =>
      (
        await post(`${running.dataUrl}/agents/support?session=s1`, { threadId: "t1", runId: id })
      ).text();
    return { running, control, run };
  };
  const first = await begin();
  try {
    expect(await first.run("r1")).not.toContain('"name":"note"');
    const issued = await first.control("/v1/capabilities", {
      agent: "support",
      session_id: "s1",
      scopes: ["ui:*:*"],
      max_events: 100,
      allow_unowned_session: true,
    });
    expect(await first.run("r2")).toContain('"name":"note"');
    await first.running.close();
    const capability = issued["token"] as string;
    const stored = filesBelow(folder).filter((file) => readFileSync(file).includes(capability));
    expect(stored).toEqual([]);

    const second = await begin();
    try {
      expect(await second.run("r3")).toContain('"name":"note"');
      const listed = (await second.control("/v1/capabilities")) as {
        items: Record<string, unknown>[];
      };
      expect(listed.items).toMatchObject([
        {
          id: issued["id"],
          agent: "support",
          session: "s1",
          scopes: ["ui:*:*"],
          max_events: 100,
          operator: expect.stringMatching(/^admin-/u),
          revoked: false,
        },
      ]);
      expect(listed.items[0]?.["remaining"]).toBeLessThan(100);
      await second.control("/v1/capabilities/revoke", { id: issued["id"] });
      const after = (await second.control("/v1/capabilities")) as { items: { revoked: boolean }[] };
      expect(after.items[0]?.revoked).toBe(true);
      expect(await second.run("r4")).not.toContain('"name":"note"');
    } finally {
      await second.running.close();
    }
  } finally {
    await first.running.close();
    await agent.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}
