import { createRequire } from "node:module";

/** The part of libsodium that is used here. */
export type Sodium = {
  crypto_sign_seed_keypair(publicKey: Buffer, secretKey: Buffer, seed: Buffer): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Buffer): void;
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
};

/** The name is a value, so that neither the compiler nor a bundler needs the optional package. */
const OPTIONAL_PACKAGE: string = "sodium-native";

/** libsodium; `undefined` on platforms without a prebuilt binary, or where the package was left out. */
export function loadSodium(): Sodium | undefined {
  try {
    // `require`, because an import parses the whole source for export names: 40 ms in each thread.
    const sodium = createRequire(import.meta.url)(OPTIONAL_PACKAGE) as Partial<Sodium>;
    return typeof sodium.crypto_sign_verify_detached === "function"
      ? (sodium as Sodium)
      : undefined;
  } catch {
    return undefined;
  }
}
