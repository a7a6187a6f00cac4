export { createInThreadSigner } from "./in-thread.js";
export { createSigningPool } from "./pool.js";
export type { SigningPoolOptions } from "./pool.js";
export type { SignLibrary } from "./ed25519.js";
export type { GroupSigner } from "./group-signer.js";
export type { SignedGroup, SignMode, SignRequest } from "./group.js";
