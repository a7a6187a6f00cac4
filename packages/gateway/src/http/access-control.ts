import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";
import type { ThreadLedger } from "../thread/ledger.js";
import type { Clock } from "../base/ports.js";
import { ResumableStreams } from "./resume/resumable-streams.js";
import type { ResumeElsewhere } from "./resume/resume-request.js";
import { MAX_TOKEN_LENGTH, OPEN_ACCESS, tokenError } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createLeases } from "../access/leases.js";
import type { Leases } from "../access/leases.js";
import { RunSlots } from "../access/run-slots.js";
import { SessionOwners } from "../sessions/session-owners.js";
import { Tickets } from "../access/tickets.js";

/** Everything a listener asks before it lets somebody do something. */
export type AccessControl = {
  readonly access: Access;
  readonly limits: ListenLimits;
  readonly leases: Leases;
  readonly owners: SessionOwners;
  readonly runs: RunSlots;
  readonly tickets: Tickets;
  /** Streams whose clients may come back to them. */
  readonly resumableStreams: ResumableStreams;
  /** Streams at other gateways whose clients come back here; none where there are no others. */
  readonly relays: ResumeElsewhere | undefined;
  /** Ends what runs by itself. */
  close(): void;
};

/** What a door is made of. */
export type AccessControlOptions = {
  readonly clock: Clock;
  /** Where it is kept which tickets were used, and whose sessions are whose, for all gateways that share it. */
  readonly ledger: ThreadLedger;
  /** 32 bytes under which tickets are sealed, the same wherever they shall be taken; fresh ones when left out. */
  readonly ticketKey?: Uint8Array | undefined;
  readonly access?: Access | undefined;
  readonly limits?: Partial<ListenLimits> | undefined;
  /** Names a stream so that other gateways know whose it is. */
  readonly createStreamKey?: (() => string) | undefined;
  openRelays?(limits: ListenLimits): ResumeElsewhere | undefined;
  /** Told of every credential that was refused; the error names none. */
  onRefused?(error: unknown): void;
};

/** Makes the door of a gateway; without an access everybody is anonymous. */
export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { clock, access = OPEN_ACCESS, limits } = options;
  const resolved = { ...DEFAULT_LISTEN_LIMITS, ...limits };
  const leases = createLeases();
  return {
    access: {
      allowsAnonymous: access.allowsAnonymous,
      authenticate: async (token) => {
        try {
          assertWellFormed(token);
          return await access.authenticate(token);
        } catch (error) {
          options.onRefused?.(error);
          throw error;
        }
      },
      restore: (name) => access.restore?.(name),
    },
    limits: resolved,
    leases,
    owners: new SessionOwners({ clock, ledger: options.ledger }),
    runs: new RunSlots(resolved.runsPerPrincipal),
    tickets: new Tickets({ clock, access, ledger: options.ledger, key: options.ticketKey }),
    resumableStreams: new ResumableStreams(resolved, options.createStreamKey),
    relays: options.openRelays?.(resolved),
    close: () => leases.stop(),
  };
}

/** What a credential is made of; RFC 6750 section 2.1. */
const CREDENTIAL = /^[A-Za-z0-9._~+/-]+=*$/;

/** Also where nobody asks for one: an agent may get it in a header, and a frame can hold what no header could. */
function assertWellFormed(token: string | undefined): void {
  if (token === undefined) return;
  if (token.length > MAX_TOKEN_LENGTH) throw tokenError("too-large");
  if (!CREDENTIAL.test(token)) throw tokenError("malformed");
}
