export { createFakeClock } from "./fake-clock.js";
export type { FakeClock } from "./fake-clock.js";
export { RESET, sseFrame, startFakeAgent } from "./fake-agent.js";
export type { FakeAgent, FakeAnswer, FakePiece, FakeRequest, FakeScript } from "./fake-agent.js";
export { startPostgres } from "./postgres.js";
export type { RunningPostgres } from "./postgres.js";
export { findBrowser, startBrowser } from "./browser.js";
