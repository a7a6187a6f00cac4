import type { SignLibrary } from "./ed25519.js";
import type { SignedGroup } from "./group.js";

/** What a signing thread is started with. */
export type WorkerSetup = {
  readonly pem: string;
  readonly library: SignLibrary | undefined;
  readonly kernelKey: string;
};

/** What a signing thread says: that it is ready, then one answer for each group, in order. */
export type WorkerAnswer =
  | { readonly ready: SignLibrary }
  | { readonly ok: true; readonly group: SignedGroup }
  | { readonly ok: false };
