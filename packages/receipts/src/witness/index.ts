export { decodeAttestations } from "../checkpoint/attestations.js";
export type { Attestations } from "../checkpoint/attestations.js";
export { ADD_CHECKPOINT, newestPath } from "./add-checkpoint.js";
export { readNewest } from "./witness-client.js";
export type { WitnessAddress } from "./witness-client.js";
export { createWitness } from "./witness.js";
export type { Witness, WitnessOptions, WitnessResponse } from "./witness.js";
export { createWitnessServer } from "./witness-server.js";
export type { WitnessServer, WitnessServerOptions } from "./witness-server.js";
export { openFileState, readWitnessState } from "./witness-state.js";
export type { FileState, WitnessState } from "./witness-state.js";
export { Witnessing } from "./witnessing.js";
export type {
  WitnessedCheckpoint,
  WitnessingOptions,
  WitnessReport,
  WitnessStatus,
} from "./witnessing.js";
