import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { RedisConnections, RedisValue } from "../store/redis/open-redis.js";
import type { CountRequest, CountResult, CountStore, WindowLimit } from "./count-store.js";
import type { KeyedCountRequest } from "./count-store.js";
import { createCountScript } from "./redis-count-script.js";

/** The connections that the counts use. */
export type CountConnections = Pick<
  RedisConnections,
  "key" | "runReplicated" | "command" | "onChange"
>;

/** Options of {@link openRedisCounts}. */
export type RedisCountsOptions = {
  readonly redis: CountConnections;
  /** The name of this gateway. */
  readonly gateway: string;
  /**
   * Claims the first start of all gateways; resolves with true once. Without counts in Redis, every other start knows
   * that counts were lost.
   */
  claimFirst(): Promise<boolean>;
  /** Called when counts were lost, once per loss; caps are closed until their windows have passed. */
  onLoss?(): void;
  readonly script?: ReturnType<typeof createCountScript>;
  readonly firstMs?: number;
};

/** The tag of all counts: one script uses many of them. */
const TAG = "shared";
/** How long a start waits for the gateway that is the first, in milliseconds. */
const FIRST_MS = 2000;
const FIRST_STEP_MS = 100;

function unavailable(message: string): CountersignError<"ERR_VELOCITY_UNAVAILABLE"> {
  return new CountersignError("ERR_VELOCITY_UNAVAILABLE", message, {});
}

function valuesOf(request: CountRequest): RedisValue[] {
  const { kind, max, capacity, windowMs } = request.limit as WindowLimit;
  const { wanted, lease, settled } = request;
  return [
    kind,
    max,
    capacity,
    windowMs,
    wanted,
    lease,
    settled.length,
    ...settled.flatMap(({ id, used, ageMs }) => [id, used, ageMs]),
  ];
}

/**
 * Opens the counts of velocity caps in Redis. A request is one script, so that requests of other gateways are before or
 * after it. Lost counts never open a cap: see {@link createCountScript}.
 */
export async function openRedisCounts({
  redis,
  gateway,
  claimFirst,
  onLoss = () => {},
  script = createCountScript(),
  firstMs = FIRST_MS,
}: RedisCountsOptions): Promise<CountStore> {
  const server = redis.key(TAG, "counts");
  let seen = 0;
  let knownLoss: number | undefined;

  const exchange = async (
    requests: readonly KeyedCountRequest[],
    isFirst = false,
  ): Promise<CountResult[]> => {
    const keys = requests.map(({ key }) => redis.key(TAG, `count:${key}`));
    const values = [gateway, seen, isFirst ? 1 : 0, ...requests.flatMap(valuesOf)];
    const reply = (await redis.runReplicated(script, [server, ...keys], values)) as string[];
    const [state, lost, seq, isLoss, ...numbers] = reply;
    // Another gateway reported a loss from before this start.
    if (isLoss === "1" || Number(lost) > (knownLoss ?? Number(lost))) onLoss();
    knownLoss = Number(lost);
    if (state === "quiet") throw unavailable("Redis was restarted or replaced; counts are checked");
    // Only after the replicas have it: a lost response must not count.
    seen = Math.max(seen, Number(seq));
    return requests.map((_, index) => ({
      given: Number(numbers[3 * index]),
      used: Number(numbers[3 * index + 1]),
      elsewhere: Number(numbers[3 * index + 2]),
    }));
  };
  const checkIn = (isFirst = false): Promise<unknown> =>
    exchange([], isFirst).catch(() => undefined);

  if (await claimFirst()) await checkIn(true);
  else {
    for (let waited = 0; waited < firstMs; waited += FIRST_STEP_MS) {
      const known = await redis.command("EXISTS", server).catch(() => 1);
      if (known !== 0) break;
      await new Promise((resolve) => setTimeout(resolve, FIRST_STEP_MS));
    }
    await checkIn();
  }
  // A gateway without requests may have the newest answer: a replica that is behind shows only by it.
  const stop = redis.onChange((isUp) => {
    if (isUp) void checkIn();
  });
  return {
    exchange: (requests) => exchange(requests),
    // Redis removes counts by itself when their windows have passed.
    sweep: async () => {},
    close: async () => stop(),
  };
}
