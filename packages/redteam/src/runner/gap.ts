/**
 * Something a document asks for that did not happen, so that finding nothing says nothing about the agent.
 *
 * - `unsupported`: this runner does not perform it.
 * - `cut_short`: what the target answered kept the runner from sending the rest.
 * - `error`: something broke, or the document asks for what cannot be.
 */
export type Gap = {
  readonly kind: "unsupported" | "cut_short" | "error";
  readonly message: string;
};

const MOST_SHOWN = 1000;

/** All gaps as one sentence for reports, what broke first. */
export function describeGaps(gaps: readonly Gap[]): string {
  const order: readonly Gap["kind"][] = ["error", "unsupported", "cut_short"];
  const sorted = gaps.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  const text = [...new Set(sorted.map(({ message }) => message))].join("; ");
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}
