import { canonicalJson } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import { CompactSign, importPKCS8 } from "jose";
import type { CapabilityClaims } from "../token/claims.js";
import { claimsToJson } from "../token/claims.js";
import { TOKEN_TYPE } from "../token/compact.js";
import { keyThumbprint } from "../trust/public-key.js";

type JoseKey = Awaited<ReturnType<typeof importPKCS8>>;

const imported = new WeakMap<Ed25519Key, JoseKey>();

/** Signs claims as a compact JWS (RFC 7515) with EdDSA (RFC 8037). */
export async function signCompact(key: Ed25519Key, claims: CapabilityClaims): Promise<string> {
  const payload = new TextEncoder().encode(canonicalJson(claimsToJson(claims)));
  return new CompactSign(payload)
    .setProtectedHeader({ alg: "EdDSA", kid: keyThumbprint(key.publicKey), typ: TOKEN_TYPE })
    .sign(await joseKey(key));
}

async function joseKey(key: Ed25519Key): Promise<JoseKey> {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const fresh = await importPKCS8(await exportPrivateKeyPem(key), "EdDSA");
  imported.set(key, fresh);
  return fresh;
}
