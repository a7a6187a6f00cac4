import type { ReactNode } from "react";
import { hasRole, useMe } from "../api/session.js";
import type { Role } from "../api/session.js";

/** Why the operator cannot do something: the role that it needs. `undefined` if the operator has it. */
export function useMissingRole(least: Role): string | undefined {
  const { role } = useMe();
  return hasRole(role, least) ? undefined : `This needs the role ${least}; your role is ${role}.`;
}

/** The reason beside a control that is off. */
export function Reason({ text }: { readonly text: string | undefined }): ReactNode {
  return text === undefined ? null : <span className="faint small-print reason">{text}</span>;
}
