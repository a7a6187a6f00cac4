import "../errors/error.js";

declare module "../errors/error.js" {
  interface ErrorFacts {
    /** A key, seed or signature that does not have the one length it must have. */
    ERR_ED25519_LENGTH: {
      what: "public key" | "private key" | "signature";
      expected: number;
      actual: number;
    };
    /** Text that is not the PEM form of one Ed25519 key of the expected kind. */
    ERR_ED25519_PEM: { expected: "PUBLIC KEY" | "PRIVATE KEY" };
    /** A public key of small order or in a non-canonical form: anyone can sign for it. */
    ERR_ED25519_WEAK_KEY: Record<never, never>;
    /** The runtime has no Ed25519. */
    ERR_ED25519_UNAVAILABLE: Record<never, never>;
  }
}
