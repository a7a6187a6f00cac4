import { CountersignError } from "@countersign/core";
import {
  DEFAULT_DOCUMENT_LIMITS,
  formatIssue,
  issueAt,
  readYaml,
  validateAgainstSchema,
} from "@countersign/policy/yaml";
import type { DocumentIssue } from "@countersign/policy/yaml";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { UpstreamTarget } from "../upstream/upstream.js";
import { checkAccess, checkControl, checkOrigins, resolveAccess } from "./access.js";
import type { AccessBlock } from "./access.js";
import type { GatewayConfig } from "./config.js";
import "./errors.js";
import { headerProblem } from "./headers.js";
import { checkLimits, resolveListenLimits } from "./listen-limits.js";
import type { LimitsBlock } from "./listen-limits.js";
import { CONFIG_SCHEMA } from "./schema.js";

/** What loading needs beside the text. */
export type ConfigOptions = {
  /** The file's path: messages name it and relative paths start from its folder. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type AgentBlock = {
  url: string;
  transport?: UpstreamTarget["transport"];
  frames?: UpstreamTarget["frames"];
  dialect?: "auto" | "1.0" | "0.0" | "0.1.0" | "envelope";
  headers?: Record<string, string>;
  forward_authorization?: boolean;
  answer_timeout?: number;
  idle_timeout?: number;
};

type ConfigDocument = {
  listen?: {
    host?: string;
    port?: number;
    heartbeat?: number;
    tls?: { cert: string; key: string };
  };
  control?: {
    host?: string;
    port?: number;
    i_understand_that_the_admin_token_travels_in_clear?: boolean;
  };
  agents: Record<string, AgentBlock>;
  default_agent?: string;
  policy?: string;
  origins?: string[];
  access?: AccessBlock;
  limits?: LimitsBlock;
  receipts?: Partial<GatewayConfig["receipts"]>;
  keys?: { directory?: string };
  capabilities?: { issuers?: string[]; revocations?: string };
  log?: Partial<GatewayConfig["log"]>;
  metrics?: { public?: boolean };
  tracing?: { endpoint: string; service?: string; headers?: Record<string, string> };
  threads?: { keep_days?: number };
  shutdown?: { delay?: number; drain_timeout?: number };
};

const LOOPBACK = "127.0.0.1";
const DATA_PORT = 8080;
const CONTROL_PORT = 8081;
const DATA_DIRECTORY = ".countersign";
const DAY_MS = 86_400_000;

/** Reads `countersign.yaml`; every problem is told with file, line and column. */
export function loadConfig(text: string, options: ConfigOptions): GatewayConfig {
  const { file } = options;
  const read = readYaml(text, file, DEFAULT_DOCUMENT_LIMITS);
  if (read.value === undefined) throw invalid(file, read.issues);
  const issues = validateAgainstSchema(
    CONFIG_SCHEMA,
    read.value,
    read.positions,
    DEFAULT_DOCUMENT_LIMITS.maxIssues,
  );
  if (issues.length > 0) throw invalid(file, issues);
  const document = read.value as unknown as ConfigDocument;
  const extra = checkMeaning(document, (pointer, message) =>
    issueAt(read.positions, pointer, "bad-value", message),
  );
  if (extra.length > 0) throw invalid(file, extra);
  return resolveConfig(document, {
    ...options,
    issue: (pointer, message) => issueAt(read.positions, pointer, "bad-value", message),
  });
}

/** What a grammar cannot say. */
function checkMeaning(
  document: ConfigDocument,
  issue: (pointer: string, message: string) => DocumentIssue,
): DocumentIssue[] {
  const found: DocumentIssue[] = [];
  const names = Object.keys(document.agents);
  if (names.length === 0) found.push(issue("/agents", "agents needs at least one agent"));
  for (const name of names) {
    const { url, transport } = document.agents[name] as AgentBlock;
    const at = `/agents/${name}/url`;
    const schemes = transport === "websocket" ? ["ws:", "wss:"] : ["http:", "https:"];
    if (!URL.canParse(url))
      found.push(issue(at, "url is not an absolute address, such as http://127.0.0.1:8000/"));
    else if (!schemes.includes(new URL(url).protocol)) {
      found.push(issue(at, `url must start with ${schemes.join("// or ")}//`));
    }
  }
  const { default_agent: chosen } = document;
  if (chosen !== undefined && !names.includes(chosen)) {
    found.push(issue("/default_agent", `no agent is named ${chosen}`));
  }
  const { tracing } = document;
  if (tracing !== undefined && !/^https?:/u.test(schemeOf(tracing.endpoint))) {
    found.push(issue("/tracing/endpoint", "endpoint must start with http:// or https://"));
  }
  checkListeners(document, (pointer, message) => found.push(issue(pointer, message)));
  return found;
}

/** Who could reach what without saying who they are. */
function checkListeners(
  { listen, control, origins = [], access, limits }: ConfigDocument,
  issue: (pointer: string, message: string) => void,
): void {
  checkAccess(access, { host: listen?.host ?? LOOPBACK, origins }, issue);
  checkLimits(limits, issue);
  checkOrigins(origins, issue);
  const inClear = control?.i_understand_that_the_admin_token_travels_in_clear === true;
  checkControl(control?.host ?? LOOPBACK, inClear, issue);
  const data = { host: LOOPBACK, port: DATA_PORT, ...listen };
  const operators = { host: LOOPBACK, port: CONTROL_PORT, ...control };
  if (data.port !== 0 && data.port === operators.port && overlap(data.host, operators.host)) {
    issue(
      control?.port === undefined ? "/listen/port" : "/control/port",
      `listen and control both want port ${data.port}; give each its own`,
    );
  }
}

/** Whether two listeners could get in each other's way on one port. */
function overlap(one: string, other: string): boolean {
  const [first, second] = [one, other].map((host) => (host === "localhost" ? LOOPBACK : host));
  return first === second || [one, other].some((host) => host === "0.0.0.0" || host === "::");
}

function schemeOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : "";
}

/** How the document is read, and where in it something stands. */
type Reading = ConfigOptions & {
  readonly issue: (pointer: string, message: string) => DocumentIssue;
};

function resolveConfig(document: ConfigDocument, options: Reading): GatewayConfig {
  const folder = dirname(resolve(options.file));
  const path = (value: string): string => resolve(folder, value);
  const { listen, control, receipts, capabilities } = document;
  const names = Object.keys(document.agents);
  return {
    file: options.file,
    listen: {
      host: listen?.host ?? LOOPBACK,
      port: listen?.port ?? DATA_PORT,
      ...(listen?.heartbeat === undefined ? {} : { heartbeatMs: listen.heartbeat * 1000 }),
      ...(listen?.tls === undefined
        ? {}
        : { tls: { cert: path(listen.tls.cert), key: path(listen.tls.key) } }),
    },
    control: { host: control?.host ?? LOOPBACK, port: control?.port ?? CONTROL_PORT },
    agents: names.map((name) => targetOf(name, document.agents[name] as AgentBlock, options)),
    defaultAgent: document.default_agent ?? (names[0] as string),
    policyFile: document.policy === undefined ? undefined : path(document.policy),
    origins: document.origins ?? [],
    access: resolveAccess(document.access, path),
    limits: resolveListenLimits(document.limits),
    receipts: {
      store: storeOf(receipts?.store, path, options),
      durability: receipts?.durability ?? "strict",
      sign: receipts?.sign ?? "each",
      origin: receipts?.origin ?? "countersign.local/log",
    },
    keyDirectory: path(document.keys?.directory ?? `${DATA_DIRECTORY}/keys`),
    issuers: capabilities?.issuers ?? [],
    revocationFile:
      capabilities?.revocations === undefined ? undefined : path(capabilities.revocations),
    log: { level: document.log?.level ?? "info", format: document.log?.format ?? "auto" },
    metrics: { isPublic: document.metrics?.public ?? false },
    tracing: tracingOf(document.tracing, options),
    threads: { keepMs: (document.threads?.keep_days ?? 30) * DAY_MS },
    shutdown: {
      delayMs: (document.shutdown?.delay ?? 0) * 1000,
      drainTimeoutMs: (document.shutdown?.drain_timeout ?? 30) * 1000,
    },
  };
}

function storeOf(
  written: string | undefined,
  path: (value: string) => string,
  options: Reading,
): string {
  if (written === undefined) return `sqlite:${path(`${DATA_DIRECTORY}/receipts`)}`;
  const store = expand(written, options, "/receipts/store");
  if (store.startsWith("sqlite:")) return `sqlite:${path(store.slice("sqlite:".length))}`;
  if (/^postgres(?:ql)?:\/\//u.test(store)) return store;
  const place = options.issue(
    "/receipts/store",
    "store is sqlite:DIRECTORY or a postgres:// address",
  );
  throw invalid(options.file, [place]);
}

function tracingOf(block: ConfigDocument["tracing"], options: Reading): GatewayConfig["tracing"] {
  if (block === undefined) return undefined;
  return {
    endpoint: new URL(block.endpoint),
    service: block.service ?? "countersign",
    headers: expandHeaders(block.headers, options, "/tracing/headers"),
  };
}

function expandHeaders(
  headers: Readonly<Record<string, string>> = {},
  options: Reading,
  pointer: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, written]) => {
      const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const value = expand(written, options, at);
      const problem = headerProblem(name, value);
      if (problem !== undefined) throw invalid(options.file, [options.issue(at, problem)]);
      return [name.toLowerCase(), value];
    }),
  );
}

function targetOf(name: string, block: AgentBlock, options: Reading): UpstreamTarget {
  const headers = expandHeaders(block.headers, options, `/agents/${name}/headers`);
  const dialect = block.dialect ?? "auto";
  return {
    name,
    url: new URL(block.url),
    transport: block.transport ?? "post-sse",
    headers,
    frames: block.frames ?? "json",
    dialect: dialect === "envelope" ? "chio" : dialect,
    forwardAuthorization: block.forward_authorization ?? false,
    answerTimeoutMs: (block.answer_timeout ?? 30) * 1000,
    idleTimeoutMs: (block.idle_timeout ?? 120) * 1000,
  };
}

/**
 * Secrets stay out of the file: `${NAME}` is taken from the environment, or from the file that `NAME_FILE`
 * names there, as orchestrators mount them. It must be set.
 */
function expand(value: string, { file, environment, issue }: Reading, pointer: string): string {
  return value.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_match, name: string) => {
    const found = environment[name] ?? readSecret(environment[`${name}_FILE`]);
    if (found === undefined) {
      const place = issue(pointer, `the environment variable ${name}, used here, is not set`);
      throw new CountersignError("ERR_CONFIG_VARIABLE", formatIssue(place), {
        file,
        line: place.line,
        column: place.column,
        variable: name,
      });
    }
    return found;
  });
}

function readSecret(file: string | undefined): string | undefined {
  return file === undefined || !existsSync(file) ? undefined : readFileSync(file, "utf8").trimEnd();
}

function invalid(file: string, issues: readonly DocumentIssue[]): CountersignError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return new CountersignError(
    "ERR_CONFIG_INVALID",
    first === undefined ? `${file} does not load` : `${formatIssue(first)}${more}`,
    { file, issues },
  );
}
