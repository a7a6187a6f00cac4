export { createCelEvaluator } from "./cel/evaluator.js";
export type { CelEvaluator, CelResult } from "./cel/evaluator.js";
export { evaluateAttack } from "./evaluate/attack.js";
export type { EvaluationError, EvaluationErrorKind } from "./evaluate/evaluation-error.js";
export type { EvidenceOptions } from "./evaluate/evidence.js";
export { evaluateExpression } from "./evaluate/expression.js";
export { evaluateIndicator } from "./evaluate/indicator.js";
export type { EvaluationOptions } from "./evaluate/indicator.js";
export type { MatchDetail, Outcome } from "./evaluate/outcome.js";
export { evaluatePattern } from "./evaluate/pattern.js";
export { prefetchSemanticScores } from "./evaluate/prefetch.js";
export { evaluateSemantic } from "./evaluate/semantic.js";
export type {
  AsyncSemanticEvaluator,
  GenerationProvider,
  SemanticEvaluator,
  SemanticInput,
} from "./evaluate/semantic.js";
export type { TraceEntry } from "./evaluate/trace.js";
export { computeVerdict } from "./evaluate/verdict.js";
export type {
  AttackResult,
  IndicatorResult,
  IndicatorVerdict,
  Verdict,
} from "./evaluate/verdict.js";
export { DEFAULT_OATF_LIMITS } from "./limits.js";
export type { OatfLimits } from "./limits.js";
export { load, loadDocument } from "./load.js";
export type { LoadResult } from "./load.js";
export type {
  Action,
  Actor,
  Attack,
  Classification,
  CorrelationLogic,
  DetectionMethod,
  Direction,
  Execution,
  Expression,
  Extensions,
  Extractor,
  Indicator,
  Mapping,
  MatchPredicate,
  OatfDocument,
  Pattern,
  Phase,
  ResponseEntry,
  Semantic,
  SeverityLevel,
  Tier,
  Trigger,
  Unchecked,
} from "./model/document.js";
export { ACCUMULATED_RESPONSE } from "./model/events.js";
export { extractProtocol, knownModes, knownProtocols, resolvedMode } from "./model/modes.js";
export type {
  NormalizedActor,
  NormalizedAttack,
  NormalizedDocument,
  NormalizedIndicator,
  NormalizedPattern,
  NormalizedPhase,
} from "./model/normalized.js";
export { normalize } from "./normalize/normalize.js";
export type { ParseError, ParseErrorKind } from "./parse/parse-error.js";
export { parse } from "./parse/parse.js";
export type { ParseResult } from "./parse/parse.js";
export { evaluateCondition } from "./primitives/condition.js";
export type { ConditionOptions } from "./primitives/condition.js";
export { parseDuration } from "./primitives/duration.js";
export { evaluateExtractor } from "./primitives/extractor.js";
export { resolveSimplePath, resolveWildcardPath } from "./primitives/path.js";
export { evaluatePredicate } from "./primitives/predicate.js";
export { selectResponse } from "./primitives/response.js";
export { computeEffectiveState } from "./primitives/state.js";
export { interpolateTemplate, interpolateValue } from "./primitives/template.js";
export type { TemplateContext, TemplateWarning } from "./primitives/template.js";
export { createTriggerState, evaluateTrigger } from "./primitives/trigger.js";
export type { TriggerEvent, TriggerResult, TriggerState } from "./primitives/trigger.js";
export { serialize } from "./serialize/serialize.js";
export type {
  Diagnostic,
  ValidationError,
  ValidationResult,
  WarningCode,
} from "./validate/finding.js";
export type { RuleCode } from "./validate/rules.js";
export { validate } from "./validate/validate.js";
