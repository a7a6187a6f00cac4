export { createFrameGate } from "./gate.js";
export type { FrameGate, GateResult } from "./gate.js";
export type { Encoding, SafetyIssue, SafetySpec } from "./rules.js";
export { verifyAgUiFrameSafety } from "./verify.js";
