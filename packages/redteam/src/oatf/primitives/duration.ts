import { CountersignError } from "@countersign/core";

const SHORT = /^([0-9]+)([smhd])$/;
const ISO = /^P(?=[0-9]|T)(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?$/;
const SECONDS: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
]);

/** The seconds of a duration (`30s`, `5m`, `PT1H30M`, `P1DT12H`), `undefined` when the text is none. */
export function durationSeconds(text: string): number | undefined {
  if (text.length > 64) return undefined;
  const short = SHORT.exec(text);
  const iso = ISO.exec(text);
  let total: number;
  if (short !== null) total = Number(short[1]) * (SECONDS.get(short[2] ?? "") ?? Number.NaN);
  else if (iso !== null) {
    const [days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0));
    total = (days ?? 0) * 86_400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0);
  } else return undefined;
  return Number.isSafeInteger(total) ? total : undefined;
}

/**
 * The seconds of a duration.
 *
 * @throws CountersignError ERR_OATF_DURATION when the text is none (fractions, weeks, signs, `PT`, …)
 */
export function parseDuration(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds === undefined) {
    throw new CountersignError(
      "ERR_OATF_DURATION",
      "not a duration: write 30s, 5m, 1h, 2d or an ISO 8601 form such as PT1H30M",
      { length: text.length },
    );
  }
  return seconds;
}
