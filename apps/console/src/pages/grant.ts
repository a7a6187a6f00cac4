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
  if (agent === "") return { fault: "Enter the agent." };
  if (scopes.length === 0)
    return { fault: "Enter at least one scope, for example ui:alert:toast." };
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > YEAR) {
    return { fault: "Enter a whole number for the expiry, one year at most." };
  }
  if (events !== "" && !/^[1-9]\d{0,8}$/u.test(events)) {
    return { fault: "Enter a maximum of 1 event or more, or leave the field empty." };
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
