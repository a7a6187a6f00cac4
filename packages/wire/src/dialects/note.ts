/** A change or loss in a translation: one sentence per rule, never a payload. */
export const NOTE_MESSAGES = {
  "thinking-translated": "a retired THINKING event became its REASONING equivalent",
  "thinking-title-lost": "the title of a thinking span has no place in 1.0",
  "null-absent": "a null in an optional field was read as absent",
  "snake-case": "a snake_case field name was read as its camelCase form",
  "timestamp-converted": "a timestamp was converted to whole milliseconds",
  "timestamp-dropped": "a timestamp without a time zone was dropped",
  "binary-part-upgraded": "a binary part became a typed media part",
  "binary-part-mirrored": "a binary part that a typed part of the message repeats was removed",
  "binary-part-removed": "a binary part with neither data nor url was removed",
  "tool-content-serialised": "a tool result that is not text became JSON text",
  "thread-id-supplied": "the dialect has no thread id, so one was supplied",
  "run-id-supplied": "the event names no run, so an id was supplied",
  "run-id-replaced": "the agent's run id gave way to the id of the requested run",
  "run-supplied": "the dialect has no run, so one was opened",
  "message-id-minted": "a chunk named no message, so an id was minted",
  "tool-call-id-minted": "a tool call named no id, so one was minted",
  "empty-chunk-dropped": "a chunk without text was dropped",
  "nameless-call-dropped": "a tool call without a name was dropped",
  "orphan-result-dropped": "a tool result that names no call was dropped",
  "empty-hint-dropped": "a render hint that names no component was dropped",
  "unknown-event-dropped": "an event of a type unknown to the dialect was dropped",
  "field-dropped": "a field has no form in the other dialect",
  "event-dropped": "an event has no form in the other dialect",
  "status-is-error": "a status other than success became an error",
  "outcome-is-error": "an outcome that the other side would read as success became an error",
  "after-error-dropped": "an event after an error would end the older client and was dropped",
  "step-dropped": "a step whose name is already open would end the older client and was dropped",
  "parts-flattened": "multi-part content was reduced to its text parts",
  "part-removed": "a content part with a file handle would end the older client and was removed",
  "null-snapshot-ignored": "the older client ignores a null state snapshot",
  "usage-merged": "the usage of several models was added up",
  "arguments-dropped": "tool arguments that are not a JSON object have no form",
  "open-call-dropped": "a tool call that was never ended was dropped",
  "role-dropped": "text of a role other than assistant has no form and was dropped",
  "notes-omitted": "more changes were made than are listed",
  "history-dropped": "messages before the last user message have no form",
  "finish-run-id-replaced": "a finish under the framework's own run id finished the open run",
  "thread-id-replaced": "a run that names its own id as thread got the requested thread id",
  "repeated-start-dropped": "a second start of the open run was dropped",
  "repeated-call-dropped": "a tool call that the history already has was dropped",
  "finish-after-error-dropped": "a finish after an error was dropped",
  "early-finish-dropped": "a finish was dropped because its run went on",
  "early-result-moved": "a result came before the start of its run",
  "result-message-id-replaced": "a result had the id of the message that made the call",
  "encrypted-value-entity-replaced": "an encrypted value named the step of its reasoning message",
} as const;

/** The stable name of one kind of change. */
export type DialectRule = keyof typeof NOTE_MESSAGES;

/** One change or loss that a translation made, with the place where it happened. */
export type DialectNote = {
  rule: DialectRule;
  /** Counted from 1 over what was pushed; 0 for a request body. */
  eventNumber: number;
  /** JSON Pointer into the pushed value; empty for the whole event. */
  path: string;
  message: string;
};

/** Collects notes for the event being translated. */
export type NoteSink = (rule: DialectRule, path?: string) => void;

/** Notes listed per pushed value: a hostile producer must not fill the log. */
const MAX_NOTES = 64;

/** A sink that appends to `notes` under one event number, up to a bound. */
export function createNoteSink(notes: DialectNote[], eventNumber: number): NoteSink {
  return (rule, path = "") => {
    if (notes.length > MAX_NOTES) return;
    const last = notes.length === MAX_NOTES;
    const named = last ? "notes-omitted" : rule;
    notes.push({
      rule: named,
      eventNumber,
      path: last ? "" : path,
      message: NOTE_MESSAGES[named],
    });
  };
}
