import { choice, closed, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import type { RedisKind, RedisOptions } from "../store/redis/redis-options.js";
import { expand, invalid } from "./reading.js";
import type { Reading } from "./reading.js";

/** The block `cluster` as it is written. */
export type ClusterBlock = {
  redis: string;
  kind?: RedisKind;
  sentinel?: { name: string; user?: string; password?: string };
  tls?: { ca?: string; cert?: string; key?: string };
  prefix?: string;
  replicas?: number;
  when_down?: RedisOptions["whenDown"];
};

const KINDS: readonly RedisKind[] = ["server", "sentinel", "cluster"];
const PORTS: Record<RedisKind, number> = { server: 6379, sentinel: 26_379, cluster: 6379 };
const PREFIX = "countersign";

/** The schema of `cluster`. */
export const CLUSTER_SCHEMA: JsonSchema = closed(
  "Redis or Valkey for what gateways share beside PostgreSQL; off when left out",
  {
    redis: text(
      "redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss:// for TLS, several HOST:PORT with commas; ${NAME} takes the value of an environment variable",
      4096,
    ),
    kind: choice("Kind of service at the addresses; server when left out", KINDS),
    sentinel: closed(
      "How the gateway finds the primary at Sentinel",
      {
        name: text("Name of the primary", 255),
        user: text("User at Sentinel", 255),
        password: text(
          "Password at Sentinel; ${NAME} takes the value of an environment variable",
          4096,
        ),
      },
      ["name"],
    ),
    tls: closed("Files for rediss://", {
      ca: text("Path of the certificates that sign the server's", 4096),
      cert: text("Path of the gateway's certificate", 4096),
      key: text("Path of the gateway's private key", 4096),
    }),
    prefix: {
      type: "string",
      description: "letters, digits, - and _: the first part of every key and channel",
      pattern: "^[A-Za-z0-9_-]{1,64}$",
    },
    replicas: {
      type: "integer",
      description: "Replicas that must have a count before it is used; 0 when left out",
      minimum: 0,
      maximum: 16,
    },
    when_down: choice(
      "While Redis is down: refuse what needs it, or degrade to what one gateway can do; refuse when left out",
      ["refuse", "degrade"],
    ),
  },
  ["redis"],
);

/** Resolves the block; `undefined` if it is left out. */
export function resolveCluster(
  block: ClusterBlock | undefined,
  store: string,
  path: (value: string) => string,
  options: Reading,
): RedisOptions | undefined {
  if (block === undefined) return undefined;
  const fail = (pointer: string, message: string): never => {
    throw invalid(options.file, [options.issue(pointer, message)]);
  };
  if (store.startsWith("sqlite:")) {
    fail("/cluster", "cluster needs a receipts.store in PostgreSQL, which gateways share");
  }
  const { kind = "server", sentinel, tls, replicas = 0 } = block;
  const at = "/cluster/redis";
  const address = parseAddress(expand(block.redis, options, at), PORTS[kind]);
  if (typeof address === "string") return fail(at, address);
  if (kind === "server" && address.addresses.length > 1) {
    fail(at, "several addresses need kind: sentinel or kind: cluster");
  }
  if (kind === "cluster" && address.database !== 0) {
    fail(at, "a Redis Cluster has database 0 only");
  }
  if (kind === "cluster" && replicas > 0) {
    fail("/cluster/replicas", "replicas is for one server or Sentinel, not for a Cluster");
  }
  if ((kind === "sentinel") !== (sentinel !== undefined)) {
    fail("/cluster", "kind: sentinel and the block sentinel with a name belong together");
  }
  if (tls !== undefined && !address.isTls) {
    fail("/cluster/tls", "tls needs an address with rediss://");
  }
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) {
    fail("/cluster/tls", "tls.cert and tls.key belong together");
  }
  const { isTls, ...where } = address;
  const files = Object.entries(tls ?? {}).map(([name, file]) => [name, path(file)] as const);
  const password =
    sentinel?.password && expand(sentinel.password, options, "/cluster/sentinel/password");
  return {
    kind,
    ...where,
    ...(isTls ? { tls: Object.fromEntries(files) } : {}),
    ...(sentinel === undefined
      ? {}
      : {
          sentinel: {
            name: sentinel.name,
            ...(sentinel.user === undefined ? {} : { username: sentinel.user }),
            ...(password === undefined ? {} : { password }),
          },
        }),
    prefix: block.prefix ?? PREFIX,
    replicas,
    whenDown: block.when_down ?? "refuse",
  };
}

type Address = Pick<RedisOptions, "addresses" | "username" | "password" | "database"> & {
  readonly isTls: boolean;
};

const FORM = "the address is redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS";
// The last @ ends the login: no host has one.
const URL_FORM = /^(rediss?):\/\/(?:(.*)@)?([^@/?#]+)(?:\/(\d{1,5})?)?$/u;
const HOST_FORM = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/iu;

/** Reads an address with one or several hosts; the problem if it is not one. */
function parseAddress(written: string, port: number): Address | string {
  const [, scheme, login, hosts = "", database = "0"] = URL_FORM.exec(written) ?? [];
  if (scheme === undefined) return FORM;
  const addresses = [];
  for (const one of hosts.split(",")) {
    const [, v6, host = v6, ownPort] = HOST_FORM.exec(one.trim()) ?? [];
    const number = ownPort === undefined ? port : Number(ownPort);
    if (host === undefined || number < 1 || number > 65_535) return FORM;
    addresses.push({ host, port: number });
  }
  const colon = login?.indexOf(":") ?? -1;
  let user: string;
  let password: string;
  try {
    user = decodeURIComponent(colon < 0 ? (login ?? "") : (login ?? "").slice(0, colon));
    password = colon < 0 ? "" : decodeURIComponent((login ?? "").slice(colon + 1));
  } catch {
    return "the address has a user or a password that is not percent-encoded UTF-8";
  }
  return {
    addresses,
    database: Number(database),
    isTls: scheme === "rediss",
    ...(user === "" ? {} : { username: user }),
    ...(password === "" ? {} : { password }),
  };
}
