import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sseFrame } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../config/load.js";
import { idsOf, text } from "../testing/events.js";
import { CHAT_POLICY, OPEN_POLICY } from "../testing/fixture.js";
import { readScrape, valueOf } from "../testing/scrape.js";
import { startServed } from "../testing/served.js";
import { sseEvents } from "../testing/transports.js";
import { statesOf } from "../base/files.js";
import { startGateway } from "./serve.js";
import { watchFiles } from "./watch-files.js";

/** An agent that sends one event per turn, when the test allows it. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let turns = 0;
  const turn = () =>
    turns > 0
      ? Promise.resolve(void (turns -= 1))
      : new Promise<void>((resolve) => void waiting.push(resolve));
  return {
    turn,
    next: () => {
      const resolve = waiting.shift();
      if (resolve === undefined) turns += 1;
      else resolve();
    },
  };
}

function ask(url: string, runId = "r1") {
  return fetch(`${url}/agents/support?session=s1`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: `t-${runId}`, runId, messages: [] }),
  });
}

/** Reads a stream until its content satisfies a condition. */
async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  seen: { text: string },
  isEnough: (text: string) => boolean,
): Promise<void> {
  while (!isEnough(seen.text)) {
    const { done, value } = await reader.read();
    if (done) return;
    seen.text += new TextDecoder().decode(value);
  }
}

test("a stop makes the gateway unready first, then refuses new runs, then ends open ones with an error and their receipts", async () => {
  const { turn } = createTurns();
  const served = await startServed(
    ({ body }) => ({
      pieces: (async function* () {
        yield sseFrame({ type: "RUN_STARTED", ...idsOf(body) });
        await turn();
      })(),
    }),
    { config: "shutdown: { delay: 0.3, drain_timeout: 0.5 }\n" },
  );
  const { dataUrl } = served.running;
  try {
    const open = await ask(dataUrl);
    expect((await fetch(`${dataUrl}/readyz`)).status).toBe(200);
    const { drain } = served.running.gateway.context;
    const draining = served.running.drain();
    expect(drain).toEqual({ isLeaving: true, isDraining: false });
    const leaving = await fetch(`${dataUrl}/readyz`);
    expect([leaving.status, await leaving.json()]).toEqual([503, { status: "stopping" }]);
    await vi.waitFor(async () => {
      expect(drain.isDraining).toBe(true);
      const refused = await ask(dataUrl, "r2");
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toBe("5");
      expect(await refused.json()).toMatchObject({ code: "ERR_RUN_DRAINING" });
    });
    const events = sseEvents(await open.text());
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RUN_STOPPED" });
    expect(await draining).toEqual({ stopped: 1 });
    await expect(fetch(`${dataUrl}/healthz`)).rejects.toThrow();
  } finally {
    await served.stop();
  }
});

test("runs that end in time are not cut, and a second signal skips the waiting", async () => {
  const { turn, next } = createTurns();
  const served = await startServed(
    ({ body }) => ({
      pieces: (async function* () {
        const ids = idsOf(body);
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        await turn();
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    }),
    { config: "shutdown: { drain_timeout: 3600 }\n" },
  );
  const first = await ask(served.running.dataUrl);
  const hasten = new AbortController();
  const drained = served.running.drain(hasten.signal);
  next();
  expect(sseEvents(await first.text()).at(-1)?.type).toBe("RUN_FINISHED");
  expect(await drained).toEqual({ stopped: 0 });
  await served.stop();
  const other = await startServed(() => ({ pieces: [] }), {
    config: "shutdown: { delay: 3600 }\n",
  });
  const hurried = other.running.drain(hasten.signal);
  hasten.abort();
  await hurried;
  await other.stop();
});

test("revoking a token takes effect on the next event of an open stream", async () => {
  const { turn, next } = createTurns();
  const change = (id: string) => sseFrame({ type: "STATE_SNAPSHOT", snapshot: { id } });
  const served = await startServed(
    ({ body }) => ({
      pieces: (async function* () {
        const ids = idsOf(body);
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        for (const id of ["c1", "c2"]) {
          await turn();
          yield change(id);
          yield* text(`after-${id}`, "said").map(sseFrame);
        }
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    }),
    { policy: CHAT_POLICY, config: "capabilities: { revocations: revoked.jsonl }\n" },
  );
  try {
    const issued = await served.control("/v1/capabilities", {
      method: "POST",
      body: JSON.stringify({
        agent: "support",
        session_id: "s1",
        scopes: ["ui:*:*"],
        allow_unowned_session: true,
      }),
    });
    expect(issued.status).toBe(201);
    const { id } = (await issued.json()) as { id: string };
    const open = await ask(served.running.dataUrl);
    const reader = (open.body as ReadableStream<Uint8Array>).getReader();
    const seen = { text: "" };
    next();
    await readUntil(reader, seen, (all) => all.includes("after-c1"));
    expect(seen.text).toContain('"c1"');
    await served.control("/v1/capabilities/revoke", {
      method: "POST",
      body: JSON.stringify({ id }),
    });
    next();
    await readUntil(reader, seen, (all) => all.includes("RUN_FINISHED"));
    expect(seen.text).toContain("after-c2");
    expect(seen.text).not.toContain('"c2"');
    expect(await readFile(join(served.folder, "revoked.jsonl"), "utf8")).toContain(id);
  } finally {
    await served.stop();
  }
});

test("a policy replaced by renaming takes effect; a broken one leaves the last valid one, visibly, and the gateway ready", async () => {
  const served = await startServed(() => ({ pieces: [] }), { policy: CHAT_POLICY });
  const policyNow = async () =>
    (await (await served.control("/v1/policy")).json()) as Record<string, unknown>;
  const replace = async (words: string) => {
    await writeFile(join(served.folder, "new.yaml"), words);
    await rename(join(served.folder, "new.yaml"), join(served.folder, "policy.yaml"));
  };
  try {
    const { hash: first } = await policyNow();
    await replace(OPEN_POLICY);
    await vi.waitFor(async () => expect(await policyNow()).toMatchObject({ name: "open" }), 5000);
    const { hash: second } = await policyNow();
    expect(second).not.toBe(first);
    await replace("hushspec: nonsense\n");
    await vi.waitFor(
      async () => expect(await policyNow()).toMatchObject({ stale: true, hash: second }),
      5000,
    );
    expect((await policyNow())["issues"]).not.toEqual([]);
    const metrics = readScrape(await (await served.control("/metrics")).text());
    expect(valueOf(metrics, "countersign_policy_stale")).toBe(1);
    expect(valueOf(metrics, "countersign_policy_reloads_total", { result: "failed" })).toBe(1);
    expect((await fetch(`${served.running.dataUrl}/readyz`)).status).toBe(200);
    expect(served.lines.some(({ code }) => code === "POLICY_KEPT")).toBe(true);
    await rm(join(served.folder, "policy.yaml"));
    const refused = await served.control("/v1/policy/reload", { method: "POST" });
    expect(refused.status).toBe(422);
    expect(await policyNow()).toMatchObject({ stale: true, hash: second });
    await replace(CHAT_POLICY);
    await vi.waitFor(
      async () =>
        expect(await policyNow()).toMatchObject({ stale: false, hash: first, issues: [] }),
      5000,
    );
  } finally {
    await served.stop();
  }
});

test("a named pipe or a huge file in place of a policy, or of its base, leaves the last valid one, visibly", async () => {
  const served = await startServed(() => ({ pieces: [] }), { policy: CHAT_POLICY });
  const policy = join(served.folder, "policy.yaml");
  const base = join(served.folder, "base.yaml");
  const reload = async () => {
    const answer = await served.control("/v1/policy/reload", { method: "POST" });
    return [answer.status, await answer.text()] as const;
  };
  try {
    await rm(policy);
    execFileSync("mkfifo", [policy]);
    const [status, said] = await reload();
    expect(status).toBe(422);
    expect(said).toContain("policy.yaml is not a regular file");
    expect(await (await served.control("/v1/policy")).json()).toMatchObject({
      name: "chat",
      stale: true,
    });
    const metrics = readScrape(await (await served.control("/metrics")).text());
    expect(valueOf(metrics, "countersign_policy_stale")).toBe(1);
    expect(served.lines.some(({ code }) => code === "POLICY_KEPT")).toBe(true);
    await rm(policy);
    await writeFile(policy, `hushspec: "0.1.0"\nextends: base.yaml\n`);
    execFileSync("mkfifo", [base]);
    expect((await reload())[1]).toContain("base.yaml is not a regular file");
    await rm(base);
    await writeFile(base, CHAT_POLICY);
    expect((await reload())[0]).toBe(200);
    await writeFile(policy, `#${"x".repeat(2 * 1024 * 1024)}`);
    expect((await reload())[1]).toContain("larger than");
  } finally {
    await served.stop();
  }
});

test("a revocation that another process wrote into the file is in effect; a damaged file undoes nothing", async () => {
  const served = await startServed(() => ({ pieces: [] }), {
    config: "capabilities: { revocations: revoked.jsonl }\n",
  });
  const file = join(served.folder, "revoked.jsonl");
  try {
    await writeFile(file, '{"capability_id":"cap-1","revoked_at":1}\n');
    await vi.waitFor(
      () => expect(served.running.tokens.revocations).toEqual({ count: 1, isStale: false }),
      5000,
    );
    await writeFile(file, "{\n");
    await vi.waitFor(
      () => expect(served.running.tokens.revocations).toEqual({ count: 1, isStale: true }),
      5000,
    );
    expect(served.lines.find(({ code }) => code === "REVOCATIONS_KEPT")).toMatchObject({
      reason: expect.stringContaining(`${file}:1`) as string,
    });
    await rm(file);
    await mkdir(file);
    const unkept = await served.control("/v1/capabilities/revoke", {
      method: "POST",
      body: JSON.stringify({ id: "cap-2" }),
    });
    expect(unkept.status).toBe(503);
    expect(await unkept.json()).toMatchObject({
      code: "ERR_REVOCATIONS_FILE",
      title: expect.stringContaining("until it stops") as string,
    });
    expect(served.running.tokens.revocations.count).toBe(2);
  } finally {
    await served.stop();
  }
});

test("a file behind swapped symbolic links, as Kubernetes mounts them, is noticed once", async () => {
  const served = await startServed(() => ({ pieces: [] }));
  const { folder } = served;
  for (const version of ["v1", "v2"]) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, "policy.yaml"), "same size\n");
  }
  await symlink("v1", join(folder, "..data"));
  await symlink("..data/policy.yaml", join(folder, "mounted.yaml"));
  const look = () => statesOf([join(folder, "mounted.yaml")]);
  let seen = look();
  let changes = 0;
  const watch = watchFiles(
    () => seen,
    () => {
      seen = look();
      changes += 1;
    },
    20,
  );
  await symlink("v2", join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  await vi.waitFor(() => expect(changes).toBe(1), 5000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(changes).toBe(1);
  watch.stop();
  await served.stop();
});

test("a page of a foreign origin and an unknown agent are logged and counted", async () => {
  const served = await startServed(() => ({ pieces: [] }));
  const { dataUrl } = served.running;
  const headers = { origin: `https://evil.example/${"x".repeat(500)}` };
  expect((await fetch(`${dataUrl}/agents/support`, { method: "OPTIONS", headers })).status).toBe(
    403,
  );
  expect((await fetch(`${dataUrl}/agents/nobody`, { method: "POST" })).status).toBe(404);
  const refused = served.lines.filter(({ msg }) => msg === "refused");
  expect(refused).toMatchObject([{ code: "ORIGIN_NOT_ALLOWED" }, { code: "AGENT_UNKNOWN" }]);
  expect(String(refused[0]?.["origin"])).toHaveLength(200);
  const scrape = readScrape(await (await served.control("/metrics")).text());
  expect(
    valueOf(scrape, "countersign_inbound_refusals_total", { code: "ORIGIN_NOT_ALLOWED" }),
  ).toBe(1);
  await served.stop();
});

test("a body whose declared length is too long is refused at once", async () => {
  const served = await startServed(() => ({ pieces: [] }));
  const { hostname, port } = new URL(served.running.dataUrl);
  const socket = connect(Number(port), hostname);
  const head =
    "POST /agents/support HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99000000\r\n\r\n";
  socket.write(head);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /u);
  socket.destroy();
  await served.stop();
});

test("a missing key set does not fail the start, and is logged at once", async () => {
  const served = await startServed(() => ({ pieces: [] }), {
    config:
      "access: { mode: jwt, jwt: { issuer: https://login.example, audience: c, jwks: gone.json } }\n",
  });
  const warned = () => served.lines.find(({ reason }) => reason !== undefined)?.["reason"];
  await vi.waitFor(() =>
    expect(warned()).toMatch(/^the key set of https:\/\/login\.example at .*gone\.json: ENOENT$/u),
  );
  expect((await ask(served.running.dataUrl)).status).toBe(401);
  await served.stop();
});

test("a start that fails on a used port leaves no locked store and no admin token that was never printed", async () => {
  const served = await startServed(() => ({ pieces: [] }));
  const folder = await mkdtemp(join(tmpdir(), "countersign-taken-"));
  const start = (port: string) =>
    startGateway(
      loadConfig(
        `agents: { a: { url: "http://127.0.0.1:9/" } }\nlisten: { port: 0 }\ncontrol: { port: ${port} }\n`,
        { file: join(folder, "countersign.yaml"), environment: {} },
      ),
    );
  await expect(start(new URL(served.running.controlUrl).port)).rejects.toThrow(/EADDRINUSE/u);
  const second = await start("0");
  expect(second.freshAdminToken).toMatch(/^\S{43}$/u);
  await second.close();
  const third = await start("0");
  expect(third.freshAdminToken).toBeUndefined();
  await third.close();
  await served.stop();
  await rm(folder, { recursive: true });
});
