import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const AGENT = "agents: { a: { url: http://h/ } }\n";
const load = (text: string, environment: Record<string, string> = {}) =>
  loadConfig(AGENT + text, { file: "/srv/countersign.yaml", environment });

const HASH = `sha256:${"0".repeat(64)}`;
const OIDC = `    issuer: https://login.example
    client_id: gateway
    roles: { claim: groups, map: { staff: viewer } }
`;
const oidc = (more: string): string => `control:\n  oidc:\n${OIDC}${more}`;

test("operators, sessions, TLS and an identity provider are read with their paths and secrets", () => {
  const { control } = load(
    `control:
  host: 0.0.0.0
  operators: [{ name: alice, role: operator, token: "${HASH}" }]
  operators_file: operators.txt
  sessions: { idle: 120, longest: 600 }
  tls: { cert: c.pem, key: k.pem, client_ca: ca.pem }
  mtls: { operators: { carol: admin } }
  oidc:
${OIDC}    client_secret: \${SECRET}
`,
    { SECRET: "s" },
  );
  expect(control).toMatchObject({
    operators: [{ name: "alice", role: "operator", hash: HASH }],
    operatorsFile: "/srv/operators.txt",
    sessions: { idleMs: 120_000, longestMs: 600_000 },
    tls: { cert: "/srv/c.pem", key: "/srv/k.pem", clientCa: "/srv/ca.pem" },
    certificates: new Map([["carol", "admin"]]),
    requiresCertificate: false,
    oidc: { clientSecret: "s", operatorClaim: "sub", name: "login.example" },
  });
});

test("a secret may be in a file, which must not be empty", () => {
  const file = join(mkdtempSync(join(tmpdir(), "secret-")), "oidc");
  const text = oidc(`    client_secret_file: ${file}\n`);
  expect(() => load(text)).toThrow(/countersign\.yaml:7:\d+: .*is missing or empty/u);
  writeFileSync(file, "from-file\n");
  expect(load(text).control.oidc?.clientSecret).toBe("from-file");
});

test.each([
  [
    "control:\n  tls: { cert: c, key: k, client_ca: ca }\n",
    /3:\d+: client_ca needs control\.mtls/u,
  ],
  [
    "control:\n  mtls: { operators: { a: admin } }\n",
    /3:\d+: mtls needs control\.tls with client_ca/u,
  ],
  ["control:\n  sessions: { idle: 600, longest: 60 }\n", /3:\d+: idle \(600\) is longer/u],
  [
    `control:\n  operators: [{ name: a b, role: viewer, token: "${HASH}" }]\n`,
    /3:\d+: a name has/u,
  ],
  [
    `control:\n  operators: [{ name: admin-1a2b3c4d, role: viewer, token: "${HASH}" }]\n`,
    /3:\d+: .*name of an admin token/u,
  ],
  [
    `control:\n  operators:\n    - { name: a, role: viewer, token: "${HASH}" }\n    - { name: a, role: admin, token: "${HASH}" }\n`,
    /5:\d+: a is listed twice/u,
  ],
  [`control:\n  operators: [{ name: a, role: root, token: "${HASH}" }]\n`, /3:\d+: .*viewer/u],
  [`control:\n  operators: [{ name: a, role: viewer, token: plain }]\n`, /3:\d+: /u],
  [oidc("    scopes: [profile]\n"), /7:\d+: scopes must include openid/u],
  [oidc("    redirect: https://gateway.example/elsewhere\n"), /7:\d+: redirect is an https/u],
  [
    oidc("    redirect: http://gateway.example/v1/login/oidc/callback\n"),
    /7:\d+: redirect must be https/u,
  ],
  [oidc("    redirect: javascript:/v1/login/oidc/callback\n"), /7:\d+: redirect is an https/u],
  [oidc("").replace("https://login", "http://login"), /4:\d+: issuer must be an https/u],
  [oidc("").replace("{ staff: viewer }", "{}"), /6:\d+: map needs at least one group/u],
  ["metrics: { names: [a.b] }\n", /2:\d+: metrics needs a port/u],
  ["metrics: { port: 8080 }\n", /2:\d+: listen and metrics both want port 8080/u],
  ["control: { port: 9 }\nmetrics: { port: 9 }\n", /3:\d+: control and metrics both want port 9/u],
])("%j is refused with its position", (text, message) => {
  expect(() => load(text)).toThrow(message);
});
