import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const STORE = 'receipts: { store: "postgres://u@db/r" }\n';
const load = (cluster: string, environment: Record<string, string> = {}) =>
  loadConfig(`agents:\n  a:\n    url: http://h/\n${STORE}cluster: ${cluster}\n`, {
    file: "/etc/c.yaml",
    environment,
  }).redis;

test("without the block there is no Redis", () => {
  const text = `agents:\n  a:\n    url: http://h/\n${STORE}`;
  expect(loadConfig(text, { file: "c.yaml", environment: {} }).redis).toBeUndefined();
});

test("an address alone is enough", () => {
  expect(load('{ redis: "redis://cache" }')).toEqual({
    kind: "server",
    addresses: [{ host: "cache", port: 6379 }],
    database: 0,
    prefix: "countersign",
    replicas: 0,
    whenDown: "refuse",
  });
});

test("a login, a database, TLS and IPv6 are read, and a secret comes from the environment", () => {
  expect(
    load('{ redis: "rediss://gateway:${PW}@[fd00::1]:7000/3", tls: { ca: ca.pem } }', {
      PW: "a:b@c/d",
    }),
  ).toMatchObject({
    addresses: [{ host: "fd00::1", port: 7000 }],
    username: "gateway",
    password: "a:b@c/d",
    database: 3,
    tls: { ca: "/etc/ca.pem" },
  });
  expect(load('{ redis: "redis://:only%20password@h" }')).toMatchObject({
    password: "only password",
  });
  expect(load('{ redis: "rediss://h" }')?.tls).toEqual({});
});

test("Sentinels and nodes of a Cluster are several addresses", () => {
  expect(
    load(
      '{ redis: "redis://u:p@s1,s2:9/1", kind: sentinel, replicas: 1, sentinel: { name: main, user: s, password: "${S}" } }',
      { S: "x" },
    ),
  ).toMatchObject({
    kind: "sentinel",
    addresses: [
      { host: "s1", port: 26_379 },
      { host: "s2", port: 9 },
    ],
    sentinel: { name: "main", username: "s", password: "x" },
    replicas: 1,
  });
  expect(
    load('{ redis: "redis://n1:1,n2:2,n3:3", kind: cluster, when_down: degrade }'),
  ).toMatchObject({ kind: "cluster", whenDown: "degrade" });
});

test.each([
  ['{ redis: "http://h" }', /the address is redis:/u],
  ['{ redis: "redis://h:99999" }', /the address is redis:/u],
  ['{ redis: "redis://a,b" }', /several addresses need kind/u],
  ['{ redis: "redis://a/1", kind: cluster }', /database 0 only/u],
  ['{ redis: "redis://a", kind: cluster, replicas: 1 }', /not for a Cluster/u],
  ['{ redis: "redis://a", kind: sentinel }', /belong together/u],
  ['{ redis: "redis://a", sentinel: { name: n } }', /belong together/u],
  ['{ redis: "redis://a", tls: { ca: f } }', /rediss/u],
  ['{ redis: "rediss://a", tls: { cert: f } }', /belong together/u],
  ['{ redis: "redis://u:%ZZ@a" }', /percent-encoded/u],
  ['{ redis: "redis://a", prefix: "a{b}" }', /prefix/u],
])("%s is refused with its position", (cluster, message) => {
  expect(() => load(cluster)).toThrow(message);
  expect(() => load(cluster)).toThrow(/c\.yaml:5:\d+/u);
});

test("an embedded store has one gateway: Redis is refused", () => {
  const text = 'agents:\n  a:\n    url: http://h/\ncluster: { redis: "redis://h" }\n';
  expect(() => loadConfig(text, { file: "c.yaml", environment: {} })).toThrow(
    /c\.yaml:4:\d+.*needs a receipts\.store in PostgreSQL/u,
  );
});

test("a problem in the address does not repeat the password", () => {
  const text = '{ redis: "redis://u:secret@a b" }';
  expect(() => load(text)).toThrow(/^(?!.*secret).*$/su);
});
