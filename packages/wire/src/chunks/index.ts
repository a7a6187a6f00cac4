export type { ChunkErrorCode } from "./errors.js";
export { createChunkExpander } from "./expand.js";
export type { ChunkExpander, ChunkExpanderOptions } from "./expand.js";
export { LANE_EFFECTS } from "./lane-effect.js";
export type { LaneEffect } from "./lane-effect.js";
export type { OpenStream, StreamKind } from "./lanes.js";
