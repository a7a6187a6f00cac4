import { CountersignError } from "@countersign/core";
import { ANONYMOUS } from "../access/access.js";
import "../base/errors.js";
import { invalidField } from "./problem.js";

/** The session and principal that an operator requests a capability for. */
export type OwnerRequest = {
  readonly session: string | undefined;
  /** The principal that the capability names, or is to name. */
  readonly principal: string | undefined;
  /** The operator explicitly accepts a session without an owner. */
  readonly allowsUnowned: boolean;
};

/** The principal that a capability is for. */
export type FoundOwner = {
  /** The only principal that may use it; absent: any principal that uses the session. */
  readonly principal?: string;
  /** The owner of the session; absent if it has none, or no session is named. */
  readonly owner?: string;
};

/**
 * Finds the principal that a capability is for. A session belongs to the first principal that uses its id. A
 * capability for a session without an owner would serve the first client to use it, so the operator has to request
 * that explicitly. If the session has an owner, the capability is for that owner, also after the session passes to
 * another.
 *
 * @throws CountersignError `ERR_CONTROL_SESSION_OWNER`, or the ledger's error when it does not respond
 */
export async function findOwner(
  ownerOf: (session: string) => Promise<string | undefined>,
  { session, principal, allowsUnowned }: OwnerRequest,
): Promise<FoundOwner> {
  if (principal === ANONYMOUS.id) {
    throw invalidField(
      "principal",
      `a principal that shows a credential (jwt:… or key:…); ${ANONYMOUS.id} is everybody`,
    );
  }
  const owner = session === undefined ? undefined : await ownerOf(session);
  if (owner !== undefined && principal !== undefined && principal !== owner) {
    throw refused(`The session belongs to ${owner}, not to ${principal}`, OWN_SESSION, owner);
  }
  const isOpen = session === undefined ? principal === undefined : owner === undefined;
  if (isOpen && !allowsUnowned) {
    throw session === undefined
      ? refused("A capability without a session and a principal is for everybody", NAME_ONE)
      : refused("The session has no owner: the first client to use it would own it", WAIT);
  }
  const only = principal ?? owner;
  return {
    ...(only === undefined ? {} : { principal: only }),
    ...(owner === undefined ? {} : { owner }),
  };
}

const OWN_SESSION = "name a session of that principal, or leave principal out";
const NAME_ONE = "name a principal, or send allow_unowned_session: true";
const WAIT =
  "without access no session has an owner, so send allow_unowned_session: true; with access, ask again when its user has connected, or send principal and allow_unowned_session: true";

function refused(
  what: string,
  fix: string,
  owner?: string,
): CountersignError<"ERR_CONTROL_SESSION_OWNER"> {
  const facts = owner === undefined ? {} : { owner };
  return new CountersignError("ERR_CONTROL_SESSION_OWNER", `${what}. Fix: ${fix}.`, facts);
}
