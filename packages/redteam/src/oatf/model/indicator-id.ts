/** The id of an indicator that has none: its position in the whole list, in two digits or more. */
export function generatedId(attackId: string | undefined, index: number): string {
  return `${attackId ?? "indicator"}-${String(index + 1).padStart(2, "0")}`;
}
