import { createHash } from "node:crypto";
import { CountersignError, sha256Hex } from "@countersign/core";
import "../../base/errors.js";
import type { Journal } from "../../base/ports.js";
import { within } from "../../base/within.js";
import { createCommandClient } from "./redis-client.js";
import type { RedisClient } from "./redis-client.js";
import type { RedisOptions } from "./redis-options.js";
import { RedisSignals } from "./redis-signals.js";
import type { Signals } from "../signals.js";

/** An argument or a key of a command. */
export type RedisValue = string | Buffer | number;

/** A Lua script; it runs as a whole, and nothing runs beside it. */
export type RedisScript = { readonly lua: string; readonly sha1: string };

/** Makes a script of its source. */
export function createScript(lua: string): RedisScript {
  return { lua, sha1: createHash("sha1").update(lua).digest("hex") };
}

/** Numbers of the connections, for metrics. */
export type RedisFigures = {
  /** Commands without a response, or with an error. */
  failures: number;
  /** Times that a command connection was made again. */
  reconnects: number;
};

/** The connections of a gateway to Redis or Valkey. */
export type RedisConnections = Signals & {
  readonly options: RedisOptions;
  /** True while Redis responds to commands. */
  readonly isUp: boolean;
  /** True while signals of other gateways arrive. */
  readonly isListening: boolean;
  readonly figures: Readonly<RedisFigures>;
  /**
   * A key of this log. Keys with the same tag are at one node of a Cluster, so that one script can use them: the tag
   * `shared` is for what all gateways use, `stream/ID` for one stream.
   */
  key(tag: string, name: string): string;
  /**
   * Sends one command, whose first key follows the name.
   *
   * @throws CountersignError `ERR_REDIS_UNAVAILABLE` when it has no response in time, or an error; it may have been
   * executed
   */
  command(name: string, ...values: readonly RedisValue[]): Promise<unknown>;
  /** As {@link command}, with texts of the response as buffers. */
  commandBuffer(name: string, ...values: readonly RedisValue[]): Promise<unknown>;
  /** Runs a script, by its hash where the server has it. */
  run(
    script: RedisScript,
    keys: readonly string[],
    values: readonly RedisValue[],
  ): Promise<unknown>;
  /** As {@link run}, with texts of the response as buffers. */
  runBuffer(
    script: RedisScript,
    keys: readonly string[],
    values: readonly RedisValue[],
  ): Promise<unknown>;
  /**
   * Runs a script and waits until `options.replicas` replicas have its writes.
   *
   * @throws CountersignError `ERR_REDIS_UNAVAILABLE` when too few confirm it; the writes stay
   */
  runReplicated(
    script: RedisScript,
    keys: readonly string[],
    values: readonly RedisValue[],
  ): Promise<unknown>;
  /** Called when {@link isUp} changes; returns the function that ends it. */
  onChange(listener: (isUp: boolean) => void): () => void;
  close(): Promise<void>;
};

/** Options of {@link openRedis}. */
export type OpenRedisOptions = {
  readonly options: RedisOptions;
  /** The name of the log: logs share one Redis and see nothing of each other. */
  readonly log: string;
  readonly journal: Journal;
  /** Timeout of a command in milliseconds; 2,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 2000;
const CHECK_MS = 1000;
/** How long the start waits for a connection. */
const OPEN_MS = 5000;
/** Commands without a response; a slow server must not fill the memory of the gateway. */
const MAX_UNDER_WAY = 10_000;

/** The error of a command; `reason` never has a key, a value or a password. */
function unavailable(reason: string): CountersignError<"ERR_REDIS_UNAVAILABLE"> {
  const message = `Redis did not execute a command: ${reason}`;
  return new CountersignError("ERR_REDIS_UNAVAILABLE", message, { reason });
}

/** The reason of a failure, without keys and values. */
function reasonOf(error: unknown): string {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  // The first word of a reply is its code: NOAUTH, WRONGPASS, NOPERM, READONLY, OOM.
  if (name === "ReplyError") return /^[A-Z]+/u.exec(message ?? "")?.[0] ?? "ERR";
  if (code !== undefined) return code;
  if (message === "Command timed out") return "no response in time";
  return "no connection";
}

function isMissingScript(error: unknown): boolean {
  return (error as Error).message.startsWith("NOSCRIPT");
}

/**
 * Opens the connections: one for commands, one for signals. Both reconnect by themselves.
 *
 * @throws CountersignError `ERR_REDIS_UNAVAILABLE` when Redis does not respond and must (`when_down: refuse`)
 */
export async function openRedis({
  options,
  log,
  journal,
  answerMs = ANSWER_MS,
}: OpenRedisOptions): Promise<RedisConnections> {
  const space = sha256Hex(log).slice(0, 16);
  const key = (tag: string, name: string): string => `${options.prefix}:{${space}/${tag}}:${name}`;
  const channel = (name: string): string => `${options.prefix}:${space}:signal:${name}`;
  const client: RedisClient = createCommandClient(options, answerMs);
  const figures: RedisFigures = { failures: 0, reconnects: -1 };
  const listeners = new Set<(isUp: boolean) => void>();
  let isUp = false;
  let isClosed = false;
  let underWay = 0;
  let lastReason = "no connection";

  const settle = (next: boolean, reason = lastReason): void => {
    if (isClosed || next === isUp) return;
    isUp = next;
    if (isUp) journal.info({}, "Redis responds");
    else journal.error({ code: "REDIS_DOWN", reason }, DOWN[options.whenDown]);
    for (const listener of listeners) listener(isUp);
  };
  // The second event is that of one node of a Cluster.
  for (const event of ["error", "node error"]) {
    client.on(event, (error: unknown) => {
      lastReason = reasonOf((error as { lastNodeError?: unknown }).lastNodeError ?? error);
    });
  }
  client.on("ready", () => {
    figures.reconnects += 1;
  });
  for (const event of ["close", "end"]) client.on(event, () => settle(false));

  const send = async (work: () => Promise<unknown>): Promise<unknown> => {
    if (underWay >= MAX_UNDER_WAY) {
      figures.failures += 1;
      throw unavailable("too many commands without a response");
    }
    underWay += 1;
    try {
      return await work();
    } catch (error) {
      if (isMissingScript(error)) throw error;
      figures.failures += 1;
      lastReason = reasonOf(error);
      throw unavailable(lastReason);
    } finally {
      underWay -= 1;
    }
  };
  const runOn = async (
    script: RedisScript,
    keys: readonly string[],
    values: readonly RedisValue[],
    name: "call" | "callBuffer",
  ): Promise<unknown> => {
    const rest = [keys.length, ...keys, ...values];
    try {
      return await send(() => client[name]("EVALSHA", script.sha1, ...rest));
    } catch (error) {
      if (!isMissingScript(error)) throw error;
      return send(() => client[name]("EVAL", script.lua, ...rest));
    }
  };

  const signals = new RedisSignals({ options, answerMs, channelOf: channel });
  const numberOf = (name: string): string => key("shared", `signal:${name}`);
  /** Reads the numbers of the signals. In a Cluster this asks the node with the counts: another one says nothing of it. */
  const check = async (): Promise<void> => {
    const { names } = signals;
    try {
      const keys = [key("shared", "counts"), ...names.map(numberOf)];
      const [, ...numbers] = (await send(() => client.mget(keys))) as (string | null)[];
      names.forEach((name, index) => signals.compare(name, numbers[index] ?? "0"));
      settle(true);
    } catch (error) {
      settle(false, (error as { facts?: { reason?: string } }).facts?.reason);
    }
  };
  let checking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const checkAgain = (): void => {
    timer = setTimeout(() => {
      // A failover that Sentinel announces while the client connects ends the client for good: it reconnects only from here.
      if (client.status === "end") client.connect().catch(() => undefined);
      checking = check().finally(() => {
        if (!isClosed) checkAgain();
      });
    }, CHECK_MS);
    timer.unref();
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    clearTimeout(timer);
    signals.close();
    await checking;
    client.disconnect();
  };

  const opening = client.connect().then(check, () => undefined);
  await within(Promise.all([opening, signals.open()]), OPEN_MS);
  if (!isUp && options.whenDown === "refuse") {
    await close();
    const message = `Redis does not respond: ${lastReason}. Fix: check cluster.redis, its login and the server`;
    throw new CountersignError("ERR_REDIS_UNAVAILABLE", message, { reason: lastReason });
  }
  if (!isUp) journal.error({ code: "REDIS_DOWN", reason: lastReason }, DOWN.degrade);
  checkAgain();

  return {
    options,
    get isUp() {
      return isUp;
    },
    get isListening() {
      return signals.isListening;
    },
    get figures() {
      return { ...figures, reconnects: Math.max(0, figures.reconnects) };
    },
    key,
    command: (name, ...values) => send(() => client.call(name, ...values)),
    commandBuffer: (name, ...values) => send(() => client.callBuffer(name, ...values)),
    run: (script, keys, values) => runOn(script, keys, values, "call"),
    runBuffer: (script, keys, values) => runOn(script, keys, values, "callBuffer"),
    runReplicated: async (script, keys, values) => {
      const { replicas } = options;
      const result = await runOn(script, keys, values, "call");
      if (replicas === 0) return result;
      // On the connection of the script: it waits for the writes of its own connection.
      const confirmed = await send(() => client.call("WAIT", replicas, Math.ceil(answerMs / 2)));
      if (Number(confirmed) < replicas) throw unavailable("too few replicas confirm the write");
      return result;
    },
    signal: (name, text) => {
      void runOn(SIGNAL, [numberOf(name)], [channel(name), text], "call").catch(() => undefined);
    },
    listen: (name, listener) => signals.listen(name, listener),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close,
  };
}

/** Numbers a signal and sends it. */
const SIGNAL = createScript(`
local number = redis.call('INCR', KEYS[1])
redis.call('PUBLISH', ARGV[1], string.format('%.0f', number) .. ':' .. ARGV[2])
return number
`);

const DOWN: Record<RedisOptions["whenDown"], string> = {
  refuse:
    "Redis does not respond: /readyz is 503, and events under a short velocity cap are blocked",
  degrade: "Redis does not respond: this gateway counts short velocity caps alone",
};
