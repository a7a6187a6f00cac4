import { decodeBase64Url } from "@countersign/core";

/** Characters of the id of a capability, as the API bounds them. */
const MAX_ID = 1024;

/** The id that was typed in, or the one inside a pasted token: a JWS in three parts, or Chio's JSON. */
export function capabilityIdOf(text: string): string | undefined {
  const written = text.trim();
  if (written.startsWith("{")) return idIn(written, "id");
  const [, claims, signature, ...more] = written.split(".");
  if (
    claims !== undefined &&
    signature !== undefined &&
    more.length === 0 &&
    written.startsWith("ey")
  ) {
    return idIn(decoded(claims), "jti");
  }
  return written !== "" && written.length <= MAX_ID && !/\s/u.test(written) ? written : undefined;
}

function decoded(claims: string): string {
  try {
    return new TextDecoder().decode(decodeBase64Url(claims));
  } catch {
    return "";
  }
}

function idIn(json: string, member: string): string | undefined {
  try {
    const value = JSON.parse(json) as Record<string, unknown>;
    const id = value[member];
    return typeof id === "string" && id !== "" && id.length <= MAX_ID ? id : undefined;
  } catch {
    return undefined;
  }
}
