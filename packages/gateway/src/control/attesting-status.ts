import type { JsonObject } from "@countersign/core";
import type { OpenAttesting } from "./ports.js";

/** Witnesses and timestamps of the log, for the status and for a receipt; nothing where they are off. */
export function attestingStatus({
  witnessing,
  timestamping,
  isLate,
}: Pick<OpenAttesting, "witnessing" | "timestamping" | "isLate">): JsonObject {
  return {
    ...(witnessing === undefined
      ? {}
      : {
          witnesses: {
            threshold: witnessing.threshold,
            ...witnessedFacts(witnessing.witnessed),
            unwitnessed_ms: witnessing.uncoveredMs,
            late: isLate(),
            list: witnessing.status().map(({ name, vkey, failing, size, time, claim }) => ({
              name,
              vkey,
              ...(failing === undefined ? {} : { failing }),
              ...(size === undefined || time === undefined
                ? {}
                : { size, cosigned_at: time * 1000 }),
              ...(claim === undefined
                ? {}
                : { contradicts: { size: claim.size, proven: claim.isProven } }),
            })),
          },
        }),
    ...(timestamping === undefined
      ? {}
      : {
          timestamps: {
            ...(timestamping.newest === undefined
              ? {}
              : {
                  size: timestamping.newest.size,
                  dated_at: timestamping.newest.time,
                  authority: timestamping.newest.authority,
                }),
            ...(timestamping.failing === undefined ? {} : { failing: timestamping.failing }),
          },
        }),
  };
}

/** The newest checkpoint with enough cosignatures. */
function witnessedFacts(
  witnessed: NonNullable<OpenAttesting["witnessing"]>["witnessed"],
): JsonObject {
  if (witnessed === undefined) return {};
  const { size, time, names, isEnough } = witnessed;
  return { newest: { size, cosigned_at: time * 1000, names: [...names], enough: isEnough } };
}
