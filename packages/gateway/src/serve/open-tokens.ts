import { appendFile, readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import {
  createCapabilityVerifier,
  createRevocationList,
  formatRevocation,
  parseRevocations,
} from "@countersign/capability";
import { createCapabilityIssuer } from "@countersign/capability/issue";
import type { CapabilityGrant, IssuedCapability } from "@countersign/capability/issue";
import type { GatewayConfig } from "../config/config.js";
import { openKey } from "../keys/key-directory.js";
import type { Clock } from "../ports.js";
import type { TokenVerifier } from "../runs/surroundings.js";

/** The gateway's tokens: it verifies those of trusted issuers, itself among them. */
export type OpenTokens = {
  readonly verifier: TokenVerifier;
  /** The name under which this gateway issues. */
  readonly issuer: string;
  issue(grant: CapabilityGrant): Promise<IssuedCapability>;
  /** Effective for the next event of every open stream, and kept in the revocation file. */
  revoke(id: string): Promise<void>;
  /** Takes over what was added to the revocation file; `false` when it cannot be read, and what is known stays. */
  reread(): Promise<boolean>;
  readonly revocations: { readonly count: number; readonly isStale: boolean };
};

/** Opens the issuer key, the list of trusted issuers and the list of revoked tokens. */
export async function openTokens(config: GatewayConfig, clock: Clock): Promise<OpenTokens> {
  const key = await openKey(config.keyDirectory, "issuer");
  const issuer = createCapabilityIssuer({ key });
  const { revocationFile } = config;
  const known =
    revocationFile !== undefined && existsSync(revocationFile)
      ? parseRevocations(await readFile(revocationFile, "utf8"))
      : [];
  const revocations = createRevocationList(known);
  const verifier = createCapabilityVerifier({
    issuers: [issuer.issuer, ...config.issuers],
    revocations,
    clock,
  });
  let isStale = false;
  return {
    issuer: issuer.issuer,
    get revocations() {
      return { count: revocations.list().length, isStale };
    },
    reread: async () => {
      if (revocationFile === undefined) return true;
      try {
        // Only ever more: a line that was removed does not bring a token back to life.
        for (const revocation of parseRevocations(await readFile(revocationFile, "utf8"))) {
          revocations.revoke(revocation);
        }
        isStale = false;
      } catch {
        isStale = true;
      }
      return !isStale;
    },
    verifier: {
      evaluate: (token, context) => {
        const facts = verifier.evaluate(token, context);
        // In Node the answer is there at once; a promise could only come from another runtime.
        return facts instanceof Promise
          ? { id: "<undecided>", status: "rejected", scopes: [] }
          : facts;
      },
      spend: (id) => verifier.spend(id),
    },
    issue: (grant) => issuer.issue(grant),
    revoke: async (id) => {
      const revocation = { capability_id: id, revoked_at: Math.floor(clock.now() / 1000) };
      revocations.revoke(revocation);
      if (revocationFile !== undefined)
        await appendFile(revocationFile, formatRevocation(revocation));
    },
  };
}
