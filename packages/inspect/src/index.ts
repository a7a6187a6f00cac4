export { createFindings, createStreamCheck, isAtLeast } from "./check/index.js";
export type {
  Finding,
  Findings,
  Place,
  SeenEvent,
  StreamCheck,
  StreamCheckOptions,
  StreamSummary,
} from "./check/index.js";
export { startCapture } from "./capture/proxy.js";
export type { Capture, CaptureOptions } from "./capture/proxy.js";
export { captureSession } from "./capture/session.js";
export type { SessionCaptureOptions } from "./capture/session.js";
export { examine } from "./doctor/doctor.js";
export { DEFAULT_MESSAGE, defaultInput } from "./doctor/input.js";
export { examineRecording } from "./doctor/recording.js";
export type { RecordingOptions } from "./doctor/recording.js";
export { failing } from "./doctor/report.js";
export type {
  ByteRow,
  DoctorReport,
  ExchangeFacts,
  LayerStatus,
  Timeline,
  TimelineEvent,
} from "./doctor/report.js";
export type { DoctorOptions } from "./doctor/session.js";
export type { NetworkFacts } from "./probe/connect.js";
export type { Phase } from "./probe/phase.js";
export { encodeRecordingLine, textOf } from "./recording/line.js";
export type { EventLine, RecordingLine } from "./recording/line.js";
export { listConnections, readRecording } from "./recording/read-recording.js";
export type { OpenRecording, RecordedConnection } from "./recording/read-recording.js";
export { REDACTION_GROUPS } from "./recording/redact.js";
export type { RedactionGroup } from "./recording/redact.js";
export { createPace, startReplay } from "./replay/serve.js";
export type { Replay, ReplayOptions } from "./replay/serve.js";
export { toHtml, toJunit, toSarif } from "./report/index.js";
export { createSseWatch } from "./framing/sse-watch.js";
export type { SseWatch, SseWatchOptions } from "./framing/sse-watch.js";
export { isRuleId, LAYER_NAMES, rulePage, rulePages, RULES } from "./rules/index.js";
export type { Layer, Rule, RuleId, Severity, SeverityOverride } from "./rules/index.js";
