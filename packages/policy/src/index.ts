export type { CapabilityStatus } from "@countersign/core";
export { classifyEnvelope } from "./classify/envelope.js";
export { classifyEvent, INTERRUPT_COMPONENT } from "./classify/event.js";
export type { UnsentMessage } from "./classify/client-messages.js";
export { CLIENT_PATCH_LIMITS, ClientState } from "./classify/client-state.js";
export type { Claim, ClassifyContext, ClientView, HeldActivity } from "./classify/context.js";
export type {
  Aspect,
  Direction,
  EventFacts,
  FactsSource,
  ShownPart,
  ToolCallFacts,
} from "./classify/facts.js";
export { classifyInput } from "./classify/input.js";
export type { InputContext } from "./classify/input.js";
export { DEFAULT_CHAT } from "./classify/refinement.js";
export type { Refinements } from "./classify/refinement.js";
export { createLookAlikes } from "./patterns/look-alike.js";
export type { LookAlikes } from "./patterns/look-alike.js";
export { splitPointer } from "./patterns/pointer-glob.js";
export { stoppedPath } from "./classify/stopped-path.js";
export { CLASSIFICATION_TABLE, INPUT_TABLE } from "./classify/table.js";
export type { ClassificationRow } from "./classify/table.js";
export type { InputPart } from "./vocabulary/input-part.js";
export { compilePolicy } from "./compile/compile.js";
export type { CompiledPolicy, PolicyCounterLimits } from "./compile/compile.js";
export { ALLOW, MAX_FURTHER_RULES } from "./compile/decision.js";
export type { Decision, Denial, Permit, ReasonCode } from "./compile/decision.js";
export { REDACTED } from "./compile/evidence-settings.js";
export type { EvidenceSettings, RedactedPayload } from "./compile/evidence-settings.js";
export { REQUEST_CHECKS } from "./compile/request-settings.js";
export type { ForeignRole, MessageSettings } from "./compile/message-settings.js";
export type { RequestCheckName, RequestSettings } from "./compile/request-settings.js";
export type { Trace, TraceStep } from "./compile/explain.js";
export { meaningOfPolicyRule, POLICY_RULES } from "./compile/rule-meanings.js";
export type { Opening, PolicyRuleId, RuleMeaning } from "./compile/rule-meanings.js";
export { NO_COUNTERS } from "./compile/facts.js";
export type {
  CapabilityFacts,
  ConditionValues,
  CounterFacts,
  DecisionFacts,
  Transport,
  ViolationFacts,
} from "./compile/facts.js";
export { BASIC_COMPONENTS } from "./vocabulary/basic-components.js";
export type { AppDirective, AppSettings, SurfaceSettings } from "./compile/surface-settings.js";
export { allowsDomain } from "./surface/urls.js";
export type { VelocityLimit, VelocityScope } from "./compile/velocity-rules.js";
export type { ContentFinding, ContentKind } from "./content/finding.js";
export { createContentReader } from "./content/reader.js";
export type { ContentReader } from "./content/reader.js";
export type { ContentSettings } from "./content/settings.js";
export { sourceHostsOf } from "./content/sources.js";
export { CONTENT_PARTS } from "./vocabulary/content-part.js";
export type { ContentPart } from "./vocabulary/content-part.js";
export { createCounterBook } from "./counters/book.js";
export type {
  CounterBook,
  CounterBookOptions,
  CounterBookSnapshot,
  CounterKeys,
} from "./counters/book.js";
export { createVelocityCounter } from "./counters/counter.js";
export { WINDOW_SLICES } from "./counters/window.js";
export type { VelocityCounter, VelocitySnapshot } from "./counters/counter.js";
export { changesInterface, SurfacePayloads } from "./surface/payload.js";
export { addSurface } from "./surface/view.js";
export type { SurfaceView } from "./surface/view.js";
export { addRequests, matchSurfaceRequest, readSurfaceRequests } from "./surface/request.js";
export type {
  MatchedRequest,
  ShownToThread,
  SurfaceRefusal,
  SurfaceRefusalCode,
  SurfaceRequest,
} from "./surface/request.js";
export type { SharedCounts } from "./counters/book.js";
export { BUILTIN_POLICIES } from "./document/builtin.js";
export { formatIssue } from "./document/issue.js";
export type { PolicyIssue, PolicyIssueCode } from "./document/issue.js";
export { DEFAULT_POLICY_LIMITS } from "./document/limits.js";
export type { PolicyLimits } from "./document/limits.js";
export { hashDocument, loadPolicy, readPolicy } from "./document/load.js";
export type { LoadedPolicy, LoadOptions, LoadResult, PolicyReader } from "./document/load.js";
export type { OnBlock, PolicyDocument, PolicyMode, PolicyRules } from "./document/model.js";
export { STREAM_RULES } from "./vocabulary/stream-rules.js";
export type { StreamRuleId } from "./vocabulary/stream-rules.js";
export { formatNote } from "./document/note.js";
export type { PolicyNote, PolicyNoteCode } from "./document/note.js";
export { createPolicyHolder } from "./holder/holder.js";
export type { PolicyHolder, ReplaceResult } from "./holder/holder.js";
export { POLICY_SCHEMA } from "./schema/policy-schema.js";
export { findPolicyKey } from "./schema/policy-key.js";
export { REASON_CODES } from "./compile/reason-codes.js";
export { compileArgumentSchema, compileResponseSchema } from "./tools/argument-schema.js";
export type { ArgumentCheck } from "./tools/argument-schema.js";
export { CLASSIFICATIONS, isClassification } from "./vocabulary/classification.js";
export type { Classification } from "./vocabulary/classification.js";
export { eventTypeToJson, readEventType, UI_EVENT_TYPES } from "./vocabulary/event-type.js";
export type { NamedEventType, UiEventType } from "./vocabulary/event-type.js";
export { OPERATOR_AGENT, OPERATOR_STOP_RULE } from "./vocabulary/operator.js";
export { openAct, openClass } from "./opening/open-act.js";
export type { ActOpening } from "./opening/open-act.js";
export { addLines, writeLines } from "./opening/lines.js";
export { actsNamed, actsOfType, componentActs } from "./opening/named-act.js";
export type { Act } from "./opening/named-act.js";
export { formatTarget, parseTarget } from "./vocabulary/target.js";
export type { Target } from "./vocabulary/target.js";
