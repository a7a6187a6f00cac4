import type { Classification } from "@countersign/core";

export { CLASSIFICATIONS } from "@countersign/core";
export type { Classification } from "@countersign/core";

type ClassificationTable<Value> = Readonly<Record<Classification, Value>>;

/** One bit per class, so that a set of classes is one small integer. */
export const CLASSIFICATION_BIT: ClassificationTable<number> = {
  display: 1,
  alert: 2,
  mutate: 4,
  create: 8,
  destroy: 16,
  navigate: 32,
  submit: 64,
};

/** The form in denial reasons (`capability required for Submit events`). */
export const CLASSIFICATION_TITLE: ClassificationTable<string> = {
  display: "Display",
  alert: "Alert",
  mutate: "Mutate",
  create: "Create",
  destroy: "Destroy",
  navigate: "Navigate",
  submit: "Submit",
};

/** Whether a string is a class. */
export function isClassification(value: unknown): value is Classification {
  return typeof value === "string" && Object.hasOwn(CLASSIFICATION_BIT, value);
}

/** The set of classes as bits. */
export function classificationBits(classes: readonly Classification[]): number {
  let bits = 0;
  for (const entry of classes) bits |= CLASSIFICATION_BIT[entry];
  return bits;
}

/** Whether `left` is at least as strict as `right`. */
export function isAtLeastAsStrict(left: Classification, right: Classification): boolean {
  return CLASSIFICATION_BIT[left] >= CLASSIFICATION_BIT[right];
}
