import { createScript } from "../store/redis/open-redis.js";

/** The id of the entry that ends a stream: Redis accepts no entry after it. */
export const END_ID = "18446744073709551615-0";

/**
 * Appends entries to the copy of a stream, or begins it again.
 *
 * An entry may only follow the one before it: after a failover some may be lost, and the copy is written again. The
 * copy of a gateway that was taken for dead is closed; while another one only looks whether it is, the copy waits.
 */
export const APPEND = createScript(`
local events, facts, taken = KEYS[1], KEYS[2], KEYS[3]
local life, before, first = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('GET', taken)
if claim then return claim == 'over' and 'taken' or 'claimed' end
if before == '' then
  redis.call('DEL', events)
  redis.call('SET', facts, ARGV[4])
else
  if redis.call('EXISTS', facts) == 0 then return 'gap' end
  local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)
  if (last[1] and last[1][1] or '0-0') ~= before then return 'gap' end
end
for at = 5, #ARGV, 3 do
  redis.call('XADD', events, ARGV[at], 'first', ARGV[at + 1], 'sealed', ARGV[at + 2])
end
if first ~= '0' then redis.call('XTRIM', events, 'MINID', first) end
redis.call('PEXPIRE', events, life)
redis.call('PEXPIRE', facts, life)
return 'ok'
`);

/** Reads the entries after an event; nothing if Redis does not have the stream. */
export const READ = createScript(`
local events, facts = KEYS[1], KEYS[2]
if redis.call('EXISTS', facts) == 0 then return false end
return redis.call('XRANGE', events, '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
`);

/** Claims the copy of a gateway that is gone, for the time that the end of its stream takes, or claims it for longer. */
export const CLAIM = createScript(`
local events, facts, taken = KEYS[1], KEYS[2], KEYS[3]
if redis.call('EXISTS', facts) == 0 then return 'gone' end
local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)
if last[1] and last[1][1] == ARGV[3] then return 'ended' end
if redis.call('SET', taken, ARGV[1], 'NX', 'PX', ARGV[2]) then return 'ok' end
if redis.call('GET', taken) == ARGV[1] then
  redis.call('PEXPIRE', taken, ARGV[2])
  return 'ok'
end
return 'other'
`);

/** Gives a claim back: the gateway is there after all. */
export const RELEASE = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'ok'
`);

/** Removes a copy, unless another gateway claimed or ended it: clients that resume there still need that end. */
export const REMOVE = createScript(`
if redis.call('EXISTS', KEYS[3]) == 0 then redis.call('DEL', KEYS[1], KEYS[2]) end
return 'ok'
`);

/** Ends a claimed stream. */
export const FINISH = createScript(`
local events, facts, taken = KEYS[1], KEYS[2], KEYS[3]
if redis.call('GET', taken) ~= ARGV[1] then return 'lost' end
redis.call('XADD', events, ARGV[3], 'first', ARGV[4], 'sealed', ARGV[5])
redis.call('PEXPIRE', events, ARGV[2])
redis.call('PEXPIRE', facts, ARGV[2])
redis.call('SET', taken, 'over', 'PX', ARGV[6])
return 'ok'
`);
