export { createGateway } from "./gateway.js";
export type { Gateway, GatewayOptions } from "./gateway.js";
export type { FeedItem } from "./control/feed-item.js";
export type { Clock } from "./ports.js";
export type { Recorder } from "./record/recorder.js";
export type { Journal, TokenVerifier } from "./runs/surroundings.js";
export type { FrameStyle, UpstreamTarget, UpstreamTransport } from "./upstream/upstream.js";
