import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";
import type { KeyedStore } from "../store/keyed-store.js";
import type { Clock } from "../base/ports.js";
import { createAddressReader } from "./address.js";
import type { AddressedRequest } from "./address.js";
import { ResumableStreams } from "./resume/resumable-streams.js";
import type { SharedStreams } from "./resume/shared-streams.js";
import { MAX_TOKEN_LENGTH, OPEN_ACCESS, tokenError } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createOpenGrants } from "../access/open-grants.js";
import type { OpenGrants } from "../access/open-grants.js";
import { RunSlots } from "../runs/run-slots.js";
import { SessionOwners } from "../sessions/session-owners.js";
import { Tickets } from "../access/tickets.js";

/** Authentication, tickets, limits and session ownership, checked before a request is served. */
export type AccessControl = {
  readonly access: Access;
  readonly limits: ListenLimits;
  readonly openGrants: OpenGrants;
  readonly owners: SessionOwners;
  readonly runs: RunSlots;
  readonly tickets: Tickets;
  /** Streams that their clients can resume. */
  readonly resumableStreams: ResumableStreams;
  /** Streams that every gateway of the log can resume; `undefined` without a store for them. */
  readonly sharedStreams: SharedStreams | undefined;
  /** The address of a request's client: the peer's, or the one that a trusted proxy reports. */
  clientAddress(request: AddressedRequest): string | undefined;
  /** Stops the timers. */
  close(): void;
};

/** Options of {@link createAccessControl}. */
export type AccessControlOptions = {
  readonly clock: Clock;
  /** Stores used tickets and session owners, for all gateways that share it. */
  readonly ledger: KeyedStore;
  /** 32 bytes that seal tickets, the same at every gateway that accepts them; random when left out. */
  readonly ticketKey?: Uint8Array | undefined;
  readonly access?: Access | undefined;
  readonly limits?: Partial<ListenLimits> | undefined;
  /** Streams that every gateway of the log can resume. */
  readonly sharedStreams?: SharedStreams | undefined;
};

/** Creates the access control of a gateway; without `access` every client is anonymous. */
export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { clock, access = OPEN_ACCESS, limits } = options;
  const resolved = { ...DEFAULT_LISTEN_LIMITS, ...limits };
  const openGrants = createOpenGrants();
  return {
    access: {
      allowsAnonymous: access.allowsAnonymous,
      authenticate: async (token) => {
        assertWellFormed(token);
        return access.authenticate(token);
      },
      restore: (name) => access.restore?.(name),
    },
    limits: resolved,
    openGrants,
    owners: new SessionOwners({ clock, store: options.ledger }),
    runs: new RunSlots(resolved.runsPerPrincipal),
    tickets: new Tickets({ clock, access, store: options.ledger, key: options.ticketKey }),
    resumableStreams: new ResumableStreams(resolved, options.sharedStreams),
    sharedStreams: options.sharedStreams,
    clientAddress: createAddressReader(resolved),
    close: () => openGrants.stop(),
  };
}

/** The characters of a bearer token; RFC 6750 section 2.1. */
const CREDENTIAL = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Also checked where no credential is required: it may be forwarded to an agent in a header, and a WebSocket frame
 * can hold characters that no header can.
 */
function assertWellFormed(token: string | undefined): void {
  if (token === undefined) return;
  if (token.length > MAX_TOKEN_LENGTH) throw tokenError("too-large");
  if (!CREDENTIAL.test(token)) throw tokenError("malformed");
}
