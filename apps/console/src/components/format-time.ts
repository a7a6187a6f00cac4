const two = (value: number): string => String(value).padStart(2, "0");

/** The local time of day, to the millisecond. */
export function clockOf(moment: Date): string {
  const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(":");
  return `${time}.${String(moment.getMilliseconds()).padStart(3, "0")}`;
}

/** The local day and time. */
export function dateOf(moment: Date): string {
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${clockOf(moment)}`;
}

/** The local time to the second, and the day unless it is today. */
export function shortOf(moment: Date, hasDay: boolean): string {
  const [day = "", time = ""] = dateOf(moment).slice(0, -4).split(" ");
  return hasDay && moment.toDateString() !== new Date().toDateString()
    ? `${day.slice(5)} ${time}`
    : time;
}

/** A length of time in its two largest units. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A short length of time: milliseconds where seconds would say too little. */
export function gapOf(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return ageOf(milliseconds);
}
