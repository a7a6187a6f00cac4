export { createCelEnvironment, createMeter } from "./environment.js";
export type { Meter, MeterLimits } from "./environment.js";
export { MAX_CEL_BRACKETS, MAX_CEL_NODES, parseCel, unknownNames } from "./expression.js";
export type { CelFacts, ParsedCel } from "./expression.js";
export { asCelMap, createJsonView, JsonMap } from "./json-view.js";
export type { JsonView } from "./json-view.js";
