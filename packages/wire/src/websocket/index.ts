export { BEARER_SUBPROTOCOL, buildBearerSubprotocols, parseBearerSubprotocol } from "./bearer.js";
export type { BearerSubprotocol } from "./bearer.js";
export { decodeTextFrame, textFrameStyle } from "./decode.js";
export type { TextFrameStyle } from "./decode.js";
export { encodeTextFrame } from "./encode.js";
export { createSocketRuns } from "./runs.js";
export type { SocketEventPlace, SocketRuns } from "./runs.js";
