import type { SignLibrary } from "./ed25519.js";
import type { SignedGroup } from "./group.js";

/** The start parameters of a signing thread. */
export type WorkerSetup = {
  readonly pem: string;
  readonly library: SignLibrary | undefined;
  readonly kernelKey: string;
};

/** The messages of a signing thread: ready once, then one reply per group, in order. */
export type WorkerReply =
  | { readonly ready: SignLibrary }
  | { readonly ok: true; readonly group: SignedGroup }
  | { readonly ok: false };
