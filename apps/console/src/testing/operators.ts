import { createHash, randomBytes } from "node:crypto";
import { ROLES } from "../api/session.js";
import type { Role } from "../api/session.js";

/** One operator of each role: their tokens, and the lines of the block `control`. */
export function createOperators(): {
  readonly control: string;
  readonly tokens: ReadonlyMap<Role, string>;
} {
  const made = ROLES.map((role) => {
    const key = randomBytes(32).toString("base64url");
    return { role, key, hash: `sha256:${createHash("sha256").update(key).digest("hex")}` };
  });
  const lines = made.map(
    ({ role, hash }) => `  - { name: the-${role}, role: ${role}, token: "${hash}" }\n`,
  );
  return {
    control: `operators:\n${lines.join("")}`,
    tokens: new Map(made.map(({ role, key }) => [role, key])),
  };
}
