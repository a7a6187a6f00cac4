/**
 * The matcher for test suites.
 *
 * ```ts
 * import { expect } from "vitest"; // or "@jest/globals"
 * import { matchers } from "@countersign/inspect/matchers";
 *
 * expect.extend(matchers);
 * expect(events).toBeValidAgUi();
 * ```
 *
 * For types, let your `Matchers` interface extend `AgUiMatchers`:
 * `declare module "vitest" { interface Matchers<T> extends AgUiMatchers<T> {} }`.
 *
 * @module
 */
import { toBeValidAgUi } from "./to-be-valid-ag-ui.js";
import type { ValidAgUiOptions } from "./to-be-valid-ag-ui.js";

export { toBeValidAgUi };
export type { MatcherResult, ValidAgUiOptions } from "./to-be-valid-ag-ui.js";

/** Everything `expect.extend` needs, in Vitest and in Jest. */
export const matchers = { toBeValidAgUi };

/** The matcher as a test sees it. */
export interface AgUiMatchers<R = unknown> {
  toBeValidAgUi(options?: ValidAgUiOptions): R;
}
