import type { MetricName } from "./catalogue.js";
import type { Sample } from "./exposition.js";

/** Attestations of third parties; a part that is off is `undefined`. */
export type AttestingFigures = {
  readonly witnessing?: {
    /** Of the newest checkpoint with enough cosignatures. */
    readonly entries: number | undefined;
    readonly ageSeconds: number | undefined;
    readonly unwitnessedSeconds: number;
    readonly isLate: boolean;
    readonly witnesses: readonly {
      readonly name: string;
      readonly submissions: number;
      readonly failures: number;
      readonly isFailing: boolean;
      readonly contradicts: boolean;
    }[];
  };
  readonly timestamping?: { readonly ageSeconds: number | undefined; readonly failures: number };
};

/** The samples of the parts that are on. */
export function attestingSamples({
  witnessing,
  timestamping,
}: AttestingFigures): [MetricName, readonly Sample[]][] {
  const one = (value: number | undefined): readonly Sample[] =>
    value === undefined ? [] : [[[], value]];
  const samples: [MetricName, readonly Sample[]][] = [];
  if (witnessing !== undefined) {
    const { witnesses } = witnessing;
    type Figure = (typeof witnesses)[number];
    const each = (figure: (one: Figure) => number): readonly Sample[] =>
      witnesses.map((witness) => [[witness.name], figure(witness)]);
    samples.push(
      ["countersign_witnessed_entries", one(witnessing.entries)],
      ["countersign_witnessed_checkpoint_age_seconds", one(witnessing.ageSeconds)],
      ["countersign_unwitnessed_seconds", one(witnessing.unwitnessedSeconds)],
      ["countersign_unwitnessed", one(Number(witnessing.isLate))],
      ["countersign_witness_submissions_total", each(({ submissions }) => submissions)],
      ["countersign_witness_failures_total", each(({ failures }) => failures)],
      ["countersign_witness_failing", each(({ isFailing }) => Number(isFailing))],
      ["countersign_witness_contradicts", each(({ contradicts }) => Number(contradicts))],
    );
  }
  if (timestamping !== undefined) {
    samples.push(
      ["countersign_timestamp_age_seconds", one(timestamping.ageSeconds)],
      ["countersign_timestamp_failures_total", one(timestamping.failures)],
    );
  }
  return samples;
}
