/** The form as it is typed in. */
export type GrantDraft = {
  readonly agent: string;
  readonly session: string;
  readonly principal: string;
  readonly allowsUnowned: boolean;
  readonly scopes: string;
  readonly amount: string;
  /** Seconds of the unit that `amount` is in. */
  readonly unit: string;
  readonly events: string;
  readonly isAttached: boolean;
};

/** The request body. */
export type Grant = {
  readonly agent: string;
  readonly session_id?: string;
  readonly principal?: string;
  readonly allow_unowned_session?: true;
  readonly scopes: readonly string[];
  readonly expires_in: number;
  readonly max_events?: number;
  readonly attach?: boolean;
};

const YEAR = 31_536_000;

/** Reads the form; reports an impossible value before any request. */
export function grantOf(draft: GrantDraft): { readonly body: Grant } | { readonly fault: string } {
  const agent = draft.agent.trim();
  const scopes = draft.scopes.split(/[\s,]+/u).filter((scope) => scope !== "");
  const seconds = Number(draft.amount) * Number(draft.unit);
  const session = draft.session.trim();
  const { principal } = draft;
  const events = draft.events.trim();
  if (agent === "") return { fault: "Name the agent that the token is for." };
  if (scopes.length === 0) return { fault: "Name at least one scope, such as ui:alert:toast." };
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > YEAR) {
    return { fault: "It expires after a whole number of units, within a year." };
  }
  if (events !== "" && !/^[1-9]\d{0,8}$/u.test(events)) {
    return { fault: "The bound of events is a whole number from 1, or empty." };
  }
  return {
    body: {
      agent,
      scopes,
      expires_in: seconds,
      ...(session === "" ? {} : { session_id: session, attach: draft.isAttached }),
      ...(principal === "" ? {} : { principal }),
      ...(draft.allowsUnowned ? { allow_unowned_session: true } : {}),
      ...(events === "" ? {} : { max_events: Number(events) }),
    },
  };
}
