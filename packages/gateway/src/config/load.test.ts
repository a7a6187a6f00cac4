import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const load = (text: string, environment: Record<string, string> = {}) =>
  loadConfig(text, { file: "/srv/countersign.yaml", environment });

test("one agent is enough: the defaults are loopback, strict and SQLite next to the file", () => {
  const config = load("agents:\n  support:\n    url: http://127.0.0.1:9000/\n");
  expect(config.listen).toEqual({ host: "127.0.0.1", port: 8080 });
  expect(config.control).toMatchObject({
    host: "127.0.0.1",
    port: 8081,
    console: true,
    operators: [],
    oidc: undefined,
    tls: undefined,
    sessions: { idleMs: 1_800_000, longestMs: 43_200_000 },
  });
  expect(config.metrics).toEqual({ isPublic: false, listener: undefined });
  expect(config.receipts).toMatchObject({
    store: "sqlite:/srv/.countersign/receipts",
    durability: "strict",
    sign: "each",
    toClients: "on_request",
  });
  expect(config.agents[0]).toMatchObject({
    name: "support",
    transport: "post-sse",
    dialect: "auto",
  });
});

test("to_clients is on_request or never; anything else is refused with its position", () => {
  const agents = "agents:\n  a:\n    url: http://h/\n";
  const never = load(`receipts: { to_clients: never }\n${agents}`);
  expect(never.receipts.toClients).toBe("never");
  expect(() => load(`receipts: { to_clients: always }\n${agents}`)).toThrow(
    /countersign\.yaml:1:25: .*on_request/,
  );
});

test("the heartbeat is given in seconds", () => {
  const agents = "agents:\n  a:\n    url: http://h/\n";
  expect(load(`listen: { heartbeat: 0.5 }\n${agents}`).listen.heartbeatMs).toBe(500);
  expect(() => load(`listen: { heartbeat: 0 }\n${agents}`)).toThrow(/1:22: .*at least 0.1/);
});

test("a header takes its secret from the environment, and a missing variable is reported", () => {
  const text =
    'agents:\n  a:\n    url: http://h/\n    headers: { Authorization: "Bearer ${TOKEN}" }\n';
  expect(load(text, { TOKEN: "secret" }).agents[0]?.headers).toEqual({
    authorization: "Bearer secret",
  });
  expect(() => load(text)).toThrow(
    /countersign\.yaml:4:31: .*variable TOKEN, used here, is not set/,
  );
  const traced = `agents: { a: { url: "http://h/" } }\ntracing:\n  endpoint: http://t/\n  headers:\n    x: "\${KEY}"\n`;
  expect(() => load(traced)).toThrow(/countersign\.yaml:5:\d+: .*KEY/);
  const stored = `agents: { a: { url: "http://h/" } }\nreceipts:\n  store: "\${STORE}"\n`;
  expect(() => load(stored)).toThrow(/countersign\.yaml:3:\d+: .*STORE/);
});

test.each([
  [
    "agents:\n  a:\n    ur: http://h/\n",
    /countersign\.yaml:3:5: unknown key "ur".*did you mean "url"/,
  ],
  ["agents: {}\n", /at least one agent/],
  ["agents:\n  a:\n    url: /relative\n", /3:10: url is not an absolute address/],
  ["agents:\n  a:\n    url: http://h/\n    transport: websocket\n", /must start with ws:/],
  [
    "agents:\n  a:\n    url: http://h/\n    routes: [threads/list]\n",
    /4:13: routes needs kind: copilotkit-runtime/,
  ],
  [
    "agents:\n  a:\n    url: http://h/\n    kind: copilotkit-runtime\n    routes: [cpk-debug-events]\n",
    /5:14: .*must be one of inspector/,
  ],
  [
    "agents:\n  a:\n    url: http://h/\n    kind: copilotkit-runtime\n    runtime_agents: []\n",
    /5:21: runtime_agents needs at least one agent/,
  ],
  ["agents:\n  a:\n    url: http://h/\ndefault_agent: b\n", /4:16: no agent is named b/],
  ["agents:\n  <operator>:\n    url: http://h/\n", /3:5: <operator> stands for operators/],
  ["listen:\n  port: 70000\nagents:\n  a:\n    url: http://h/\n", /2:9: .*at most 65535/],
])("%j is refused with its position and a fix", (text, message) => {
  const failure = (() => {
    try {
      load(text);
    } catch (error) {
      return error;
    }
    return undefined;
  })();
  expect(isCountersignError(failure, "ERR_CONFIG_INVALID")).toBe(true);
  expect(String(failure)).toMatch(message);
});

test("a CopilotKit runtime serves its agent `default` and no further route unless the file lists more", () => {
  const agents = (more: string): unknown =>
    load(`agents: { a: { url: "http://h/", kind: copilotkit-runtime${more} } }\n`).agents[0]
      ?.runtime;
  expect(agents("")).toEqual({ agents: ["default"], routes: new Set() });
  expect(agents(", runtime_agents: [b], routes: [threads/list]")).toEqual({
    agents: ["b"],
    routes: new Set(["threads/list"]),
  });
});

test("an unknown kind of store, an invalid hash and an empty file have readable messages", () => {
  const agents = 'agents: { a: { url: "http://127.0.0.1:9/" } }\n';
  const load = (text: string) => () => loadConfig(text, { file: "c.yaml", environment: {} });
  expect(load(`${agents}receipts: { store: "mysql://u:p@h/x" }\n`)).toThrow(
    "c.yaml:2:20: store is sqlite:DIRECTORY or a postgres:// address",
  );
  expect(load(`${agents}access: { mode: keys, keys: { entries: { bot: abc } } }\n`)).toThrow(
    "c.yaml:2:47: access.keys.entries.bot does not have the form sha256: and 64 hex digits",
  );
  expect(load("")).toThrow("c.yaml:1:1: the document must be a mapping of keys to values");
});

test("all mistakes are reported at once, each on its line, twenty at most", () => {
  const agents = "agents: { a: { url: 'http://h/' } }\n";
  expect(() => load(`${agents}agnets: 1\nlisten: { prt: 1 }\n`)).toThrow(
    /^\S+ does not load\n {2}\S+:2:1: .*agents.*\n {2}\S+:3:11: .*port/,
  );
  const many = Array.from({ length: 30 }, (_, index) => `x${index}: 1\n`).join("");
  expect(() => load(agents + many)).toThrow(/x19.*\n {2}and 10 more$/);
});

test("one port for both listeners is refused; free ports and other addresses are accepted", () => {
  const agents = "agents: { a: { url: 'http://h/' } }\n";
  expect(() => load(`${agents}listen: { port: 9000 }\ncontrol: { port: 9000 }\n`)).toThrow(
    /countersign\.yaml:3:18: listen and control both want port 9000; give each its own/,
  );
  expect(() => load(`${agents}listen: { port: 8081 }\n`)).toThrow(/:2:17: .*both want port 8081/);
  expect(() => load(`${agents}control: { host: localhost, port: 8080 }\n`)).toThrow(/port 8080/);
  expect(() => load(`${agents}listen: { port: 0 }\ncontrol: { port: 0 }\n`)).not.toThrow();
  const apart = `${agents}listen: { host: 127.0.0.2, port: 9 }\ncontrol: { port: 9 }\n`;
  expect(() => load(apart)).not.toThrow();
});

test("an agent URL whose user name or password cannot be decoded is refused with its position", () => {
  const text = 'agents:\n  a:\n    url: "http://u%zz:p@h/"\n';
  expect(() => loadConfig(text, { file: "countersign.yaml", environment: {} })).toThrow(
    /countersign\.yaml:3:10: url has a name or a password/u,
  );
});
