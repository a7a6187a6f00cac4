export { activitySurvival } from "./apply-documents.js";
export type { ReduceErrorCode, Reducer } from "./reducer.js";
export { applyJsonPatch, DEFAULT_PATCH_LIMITS, PatchedDocument } from "./json-patch.js";
export { measureJson } from "./json-structure.js";
export type { PatchLimits, PatchRefusal, PatchResult } from "./json-patch.js";
export type { ReduceLimits } from "./limits.js";
export { createReducer, reduceEvents } from "./reducer.js";
export type { ReducerInitial } from "./run-model.js";
export type { RunStatus, RunView, StepView, SubagentView } from "./view.js";
