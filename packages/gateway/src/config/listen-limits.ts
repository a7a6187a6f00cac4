import { closed, list, text } from "@countersign/policy/yaml";
import type { JsonSchema } from "@countersign/policy/yaml";
import { isNetwork } from "../http/address.js";
import { DEFAULT_LISTEN_LIMITS, NUMBER_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";

type Numbers = typeof NUMBER_LIMITS;

/** The `limits` block as it is written: numbers by name, times in seconds. */
export type LimitsBlock = { trusted_proxies?: string[] } & {
  [Name in Numbers[keyof Numbers]["name"]]?: number;
};

/** The schema of `limits`. */
export const LIMITS_SCHEMA: JsonSchema = closed("Bounds of the listener; all are on", {
  trusted_proxies: list(
    "Networks whose X-Forwarded-For is believed; this machine when left out",
    text("Network, such as 10.0.0.0/8", 64),
    256,
  ),
  ...Object.fromEntries(
    Object.values(NUMBER_LIMITS).map(({ name, description, minimum, maximum, standard, scale }) => [
      name,
      {
        type: scale === 1 ? "integer" : "number",
        description,
        minimum,
        maximum,
        default: standard,
      },
    ]),
  ),
});

/** Rules about limits that the schema cannot express. */
export function checkLimits(
  block: LimitsBlock | undefined,
  issue: (pointer: string, message: string) => void,
): void {
  block?.trusted_proxies?.forEach((network, index) => {
    if (isNetwork(network)) return;
    issue(`/limits/trusted_proxies/${index}`, "not an address or a network such as 10.0.0.0/8");
  });
}

/** Fills in the defaults of the block. */
export function resolveListenLimits(block: LimitsBlock = {}): ListenLimits {
  const given = Object.entries(NUMBER_LIMITS).flatMap(([limit, { name, scale }]) => {
    const value = block[name];
    return value === undefined ? [] : [[limit, value * scale]];
  });
  const { trusted_proxies: trustedProxies = DEFAULT_LISTEN_LIMITS.trustedProxies } = block;
  return { ...DEFAULT_LISTEN_LIMITS, ...Object.fromEntries(given), trustedProxies };
}
