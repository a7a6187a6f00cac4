import type { SignLibrary } from "./ed25519.js";

/** What a signing thread says: that it is ready, then one answer for each group, in order. */
export type WorkerAnswer =
  | { readonly ready: SignLibrary }
  | { readonly ok: true; readonly bytes: Uint8Array; readonly cuts: Uint32Array }
  | { readonly ok: false };
