import { SILENT_JOURNAL } from "../base/ports.js";
import { createCountScript, SERVER } from "../quota/redis-count-script.js";
import { openRedisCounts } from "../quota/redis-counts.js";
import type { CountStore } from "../quota/count-store.js";
import { openRedis } from "../store/redis/open-redis.js";
import type { RedisConnections, RedisScript } from "../store/redis/open-redis.js";

/** The counts of one log in a real Redis, whose clock and whose crashes are the test's. */
export type ScriptedCounts = {
  readonly redis: RedisConnections;
  /** The counts of one gateway; the first one starts first. */
  open(gateway: string, firstMs?: number): Promise<CountStore & { checkIn(): Promise<unknown> }>;
  /** Sets the time of the server in milliseconds. */
  setTime(now: number): Promise<void>;
  /** Keeps the data as a replica has it now. */
  copy(): Promise<void>;
  /** Another process continues, with the data of the copy. */
  failOver(): Promise<void>;
  /** Another process continues, without data. */
  restartEmpty(): Promise<void>;
  readonly losses: number;
  close(): Promise<void>;
};

const SOURCES = {
  now: "tonumber(redis.call('GET', (string.gsub(KEYS[1], 'counts$', 'now'))))",
  run: "redis.call('GET', (string.gsub(KEYS[1], 'counts$', 'run')))",
  evicted: SERVER.evicted,
};
const ALL = "local found = {} for _, key in ipairs(redis.call('KEYS', ARGV[1])) do";

/** Opens counts whose script reads time and process from keys beside them. */
export async function openScriptedCounts(url: string, log: string): Promise<ScriptedCounts> {
  const [, host = "", port = ""] = /^redis:\/\/(.*):(\d+)$/u.exec(url) ?? [];
  const redis = await openRedis({
    options: {
      kind: "server",
      addresses: [{ host, port: Number(port) }],
      database: 0,
      prefix: "test",
      replicas: 0,
      whenDown: "refuse",
    },
    log,
    journal: SILENT_JOURNAL,
    answerMs: 10_000,
  });
  const evaluate = async (lua: string, ...values: (string | number)[]): Promise<unknown> =>
    redis.command("EVAL", lua, 0, ...values);
  const pattern = redis.key("shared", "count*");
  const place = (name: string): string => redis.key("shared", name);
  const script: RedisScript = createCountScript(SOURCES);
  let processes = 1;
  let losses = 0;
  let isClaimed = false;
  let copied: unknown[] = [];
  const become = async (rows: unknown[]): Promise<void> => {
    await evaluate(`${ALL} redis.call('DEL', key) end`, pattern);
    for (let at = 0; at < rows.length; at += 2) {
      await redis.command("RESTORE", rows[at] as Buffer, 0, rows[at + 1] as Buffer);
    }
    processes += 1;
    await redis.command("SET", place("run"), processes);
  };
  await redis.command("SET", place("run"), processes);
  return {
    redis,
    get losses() {
      return losses;
    },
    open: async (gateway, firstMs = 2000) => {
      let checkIn: (isUp: boolean) => void = () => {};
      const counts = await openRedisCounts({
        redis: {
          ...redis,
          key: redis.key,
          onChange: (listener) => {
            checkIn = listener;
            return () => {};
          },
        },
        gateway,
        claimFirst: async () => {
          const isFirst = !isClaimed;
          isClaimed = true;
          return isFirst;
        },
        onLoss: () => {
          losses += 1;
        },
        script,
        firstMs,
      });
      return {
        ...counts,
        checkIn: async () => {
          checkIn(true);
          // Commands of one connection are answered in order.
          await redis.command("PING");
        },
      };
    },
    setTime: async (now) => void (await redis.command("SET", place("now"), now)),
    copy: async () => {
      copied = (await redis.commandBuffer(
        "EVAL",
        `${ALL} found[#found + 1] = key found[#found + 1] = redis.call('DUMP', key) end return found`,
        0,
        pattern,
      )) as unknown[];
    },
    failOver: () => become(copied),
    restartEmpty: () => become([]),
    close: () => redis.close(),
  };
}
