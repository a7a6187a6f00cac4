export { settle } from "./fake-time.js";
export { GOLDEN, GOLDEN_END } from "./golden.js";
export { createHarness, runOf, textOf } from "./harness.js";
export type { Harness } from "./harness.js";
