import { createPrivateKey, sign as signWithNode } from "node:crypto";
import { loadSodium } from "../base/sodium.js";
import type { SignInto } from "./group.js";

/** The library that signs. */
export type SignLibrary = "libsodium" | "node";

/** The fastest available Ed25519 signing for a PKCS#8 PEM key: libsodium signs twice as fast. */
export async function loadSignInto(
  pem: string,
  library?: SignLibrary,
): Promise<{ library: SignLibrary; sign: SignInto }> {
  const key = createPrivateKey(pem);
  const sodium = library === "node" ? undefined : loadSodium();
  if (sodium === undefined) {
    return {
      library: "node",
      sign: (signature, message) => signature.set(signWithNode(null, message, key)),
    };
  }
  const seed = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url");
  const publicKey = Buffer.alloc(32);
  const secretKey = Buffer.alloc(64);
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
  seed.fill(0);
  return {
    library: "libsodium",
    sign: (signature, message) => sodium.crypto_sign_detached(signature, message, secretKey),
  };
}
