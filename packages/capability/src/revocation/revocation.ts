import { CountersignError, parseJson } from "@countersign/core";
import "../model/errors.js";
import { malformed, own, readClosed, readInteger } from "../reading/read.js";

const MAX_LINE_BYTES = 8192;

// Looser than our own ids: Chio's are free text.
const ID = /^[^\p{Cc}]{1,1024}$/u;

/** Where a verifier asks whether a token was revoked. It answers at once; a store answers from a copy. */
export type RevocationSource = {
  /** Whether this very id was revoked. The verifier asks for every ancestor too. */
  isRevoked(id: string): boolean;
};

/** One revocation, as it stands in a file. */
export type Revocation = {
  readonly capability_id: string;
  /** Seconds. */
  readonly revoked_at: number;
};

/** Revocations in memory. */
export type RevocationList = RevocationSource & {
  /**
   * Adds one; the first time it was revoked stays.
   *
   * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on an id no token can have
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
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on what could not be read again
 */
export function formatRevocation(revocation: Revocation): string {
  const { capability_id, revoked_at } = checkRevocation(revocation);
  return `${JSON.stringify({ capability_id, revoked_at })}\n`;
}

/**
 * Reads a revocation file: one JSON object per line. A line that cannot be read is an error, never
 * skipped, because it may be the one that matters.
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
        `line ${index + 1} is no revocation`,
        { line: index + 1 },
      );
    }
  });
}

function readRevocation(line: string): Revocation {
  const value = parseJson(line, { maxBytes: MAX_LINE_BYTES, maxDepth: 2 });
  return checkRevocation(readClosed("revocation", value, ["capability_id", "revoked_at"]));
}

// On the way in as on the way out: one line that cannot be read would keep a gateway from starting.
function checkRevocation(revocation: Readonly<Record<string, unknown>>): Revocation {
  const id = own(revocation, "capability_id");
  if (typeof id !== "string" || !ID.test(id)) throw malformed("capability_id");
  const revokedAt = readInteger("revoked_at", own(revocation, "revoked_at"), 0);
  return { capability_id: id, revoked_at: revokedAt };
}
