import { CountersignError, parseJson } from "@countersign/core";
import "../model/errors.js";
import { malformed, own, readClosed, readInteger } from "../reading/read.js";

const MAX_LINE_BYTES = 8192;

// More permissive than our own ids: Chio's are free text.
const ID = /^[^\p{Cc}]{1,1024}$/u;

/** The source of revocations. It answers synchronously; a store answers from a copy. */
export type RevocationSource = {
  /** Whether exactly this id was revoked. The verifier also asks for every ancestor. */
  isRevoked(id: string): boolean;
};

/** One revocation, as in a file. */
export type Revocation = {
  readonly capability_id: string;
  /** Seconds. */
  readonly revoked_at: number;
};

/** Revocations in memory. */
export type RevocationList = RevocationSource & {
  /**
   * Adds one; the first revocation time of an id is kept.
   *
   * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on an id that a token cannot have
   */
  revoke(revocation: Revocation): void;
  /** All of them, oldest entry first. */
  list(): readonly Revocation[];
};

/** A list of revocations, empty or filled. Revoking an id ends every token narrowed from it. */
export function createRevocationList(revocations: Iterable<Revocation> = []): RevocationList {
  const byId = new Map<string, Revocation>();
  const list: RevocationList = {
    isRevoked: (id) => byId.has(id),
    revoke(revocation) {
      checkRevocation(revocation);
      if (!byId.has(revocation.capability_id)) byId.set(revocation.capability_id, revocation);
    },
    list: () => [...byId.values()],
  };
  for (const revocation of revocations) list.revoke(revocation);
  return list;
}

/**
 * One line of a revocation file, with its line ending.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on an id that could not be read again
 */
export function formatRevocation(revocation: Revocation): string {
  const { capability_id, revoked_at } = checkRevocation(revocation);
  return `${JSON.stringify({ capability_id, revoked_at })}\n`;
}

/**
 * Parses a revocation file: one JSON object per line. An invalid line is an error, never skipped,
 * because it may be the relevant one.
 *
 * @throws CountersignError `ERR_CAPABILITY_REVOCATION_LINE` with the line's number
 */
export function parseRevocations(text: string): Revocation[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [readRevocation(line)];
    } catch {
      throw new CountersignError(
        "ERR_CAPABILITY_REVOCATION_LINE",
        `line ${index + 1} is not a revocation`,
        { line: index + 1 },
      );
    }
  });
}

function readRevocation(line: string): Revocation {
  const value = parseJson(line, { maxBytes: MAX_LINE_BYTES, maxDepth: 2 });
  return checkRevocation(readClosed("revocation", value, ["capability_id", "revoked_at"]));
}

// Checked on reading and on writing: one invalid line would prevent a gateway from starting.
function checkRevocation(revocation: Readonly<Record<string, unknown>>): Revocation {
  const id = own(revocation, "capability_id");
  if (typeof id !== "string" || !ID.test(id)) throw malformed("capability_id");
  const revokedAt = readInteger("revoked_at", own(revocation, "revoked_at"), 0);
  return { capability_id: id, revoked_at: revokedAt };
}
