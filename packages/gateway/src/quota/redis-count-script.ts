import { WINDOW_SLICES } from "@countersign/policy";
import { createScript } from "../store/redis/open-redis.js";
import type { RedisScript } from "../store/redis/open-redis.js";
import { KEPT_LEASE_MS } from "./velocity-caps.js";

/**
 * Where the script takes the time (milliseconds), the identity of the server process and the number of keys that it has
 * evicted from, as Lua.
 */
export type ScriptSources = {
  readonly now: string;
  readonly run: string;
  readonly evicted: string;
};

export const SERVER: ScriptSources = {
  // The clock of the server, because the clocks of gateways differ.
  now: "(function() local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) end)()",
  run: "string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')",
  evicted: "tonumber(string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)') or 0)",
};

/**
 * Creates the script that answers a batch of requests of one gateway, as `grantVelocity` does for one.
 *
 * `KEYS[1]` is the state of the server, the others are the counts. `ARGV`: the gateway, the number of the last answer
 * that it has, 1 at the first start of all gateways, then each request: kind, max, capacity, window, wanted, lease, the
 * number of reports, and of each report the lease, the used events and their age.
 *
 * The state of the server finds lost counts. `run` is the process: another one is a restart or a failover, which may
 * have lost the newest answers, so nothing is granted for `QUIET` and each gateway reports the newest answer that it
 * has. `seq` numbers the answers: a gateway that has a newer one proves a loss. `evicted` are the keys that the process
 * has removed for want of memory: more of them may be counts. `lost` is the time of the last loss: each count from
 * before it is full then, because its window may have been.
 */
export function createCountScript({ now, run, evicted }: ScriptSources = SERVER): RedisScript {
  return createScript(`
local SLICES = ${WINDOW_SLICES}
local SIZE = SLICES + 1
local LEASE = ${KEPT_LEASE_MS}
local QUIET = ${KEPT_LEASE_MS}
local now = ${now}
local run = ${run}
local evicted = ${evicted}
local gateway, seen, first = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local state = redis.call('HMGET', KEYS[1], 'run', 'seq', 'lost', 'quiet', 'evicted')
local seq, lost, quiet = tonumber(state[2] or 0), tonumber(state[3] or 0), tonumber(state[4] or 0)
local isLoss = false
if not state[1] then
  isLoss = not first
elseif state[1] ~= run then
  quiet = now + QUIET
  isLoss = evicted > 0
elseif evicted > tonumber(state[5] or 0) then
  isLoss = true
end
if seen > seq then
  isLoss = true
  seq = seen
end
if isLoss then lost = now end

local function text(number) return string.format('%.17g', number) end
local function save()
  redis.call('HSET', KEYS[1], 'run', run, 'seq', text(seq), 'lost', text(lost), 'quiet', text(quiet), 'evicted', text(evicted))
end
if now < quiet then
  save()
  return { 'quiet', text(lost), text(seq), isLoss and '1' or '0' }
end

local function windowCounter(row, windowMs)
  local slice = windowMs / SLICES
  local function advance(at)
    local current = math.floor(at / slice)
    if current <= row.s then return end
    for step = 1, math.min(current - row.s, SIZE) do row.c[(row.s + step) % SIZE] = nil end
    row.s = current
  end
  return {
    add = function(at, count, last)
      advance(at)
      local place = row.s
      if last ~= at then place = math.min(row.s, math.floor(last / slice)) end
      if count == 0 or row.s - place >= SIZE then return end
      row.c[place % SIZE] = (row.c[place % SIZE] or 0) + count
    end,
    used = function(at)
      advance(at)
      local total = 0
      for _, count in pairs(row.c) do total = total + count end
      return total
    end,
    fill = function(at, capacity)
      row.s = math.floor(at / slice)
      row.c = { [row.s % SIZE] = capacity }
    end
  }
end

local function bucketCounter(row, perMs)
  local function refill(at)
    if at <= row.a then return end
    row.d = math.max(0, row.d - (at - row.a) * perMs)
    row.a = at
  end
  return {
    add = function(at, count)
      refill(at)
      row.d = row.d + count
    end,
    used = function(at)
      refill(at)
      return row.d
    end,
    fill = function(at, capacity)
      row.d = capacity
      row.a = at
    end
  }
end

local results = { 'ok', text(lost), '', isLoss and '1' or '0' }
local arg = 4
local granted = false
for index = 2, #KEYS do
  local isBucket = ARGV[arg] == 'bucket'
  local max, capacity, windowMs, wanted =
    tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4])
  local lease, reports = ARGV[arg + 5], tonumber(ARGV[arg + 6])
  arg = arg + 7
  local settled = {}
  for _ = 1, reports do
    settled[ARGV[arg]] = settled[ARGV[arg]] or { tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2]) }
    arg = arg + 3
  end

  local kept = redis.call('GET', KEYS[index])
  local row = kept and cmsgpack.unpack(kept)
  local isKnown = row and row.e == lost
  if not isKnown then row = { e = lost, s = 0, c = {}, d = 0, a = 0, l = {} } end
  local counter = isBucket and bucketCounter(row, max / windowMs) or windowCounter(row, windowMs)
  if not isKnown and lost > 0 then counter.fill(lost + LEASE, capacity) end

  local open, used, others = {}, 0, 0
  for _, one in ipairs(row.l) do
    if one[4] <= now then counter.add(one[4], one[3], one[4]) end
  end
  for _, one in ipairs(row.l) do
    if one[4] > now then
      local report = settled[one[1]]
      if report then
        counter.add(now, math.min(report[1], one[3]), now - math.max(0, report[2]))
      else
        open[#open + 1] = one
        used = used + one[3]
        if one[2] ~= gateway then others = others + one[3] end
      end
    end
  end
  used = used + counter.used(now)
  local given = math.max(0, math.min(wanted, math.floor(capacity - used)))
  if given > 0 then
    granted = true
    open[#open + 1] = { lease, gateway, given, now + LEASE }
  end
  row.l = open
  local span = isBucket and windowMs * math.max(1, capacity) / max or windowMs
  redis.call('SET', KEYS[index], cmsgpack.pack(row), 'PX', math.ceil(LEASE + 2 * span))
  results[#results + 1] = text(given)
  results[#results + 1] = text(used + given)
  results[#results + 1] = text(others)
end
if granted then seq = seq + 1 end
results[3] = text(seq)
save()
return results
`);
}
