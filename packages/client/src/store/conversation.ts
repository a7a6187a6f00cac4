import { assertWithin } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, Message } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import type { Reducer, ReducerInitial, RunView } from "@countersign/wire/reduce";
import { blockedNoticeOf } from "../view/notice.js";
import type { BlockedNotice } from "../view/notice.js";
import { renderHintOf } from "../view/render-hint.js";
import type { RenderHintView } from "../view/render-hint.js";

/** Hints that one conversation may hold; more fail the run. */
const MAX_HINTS = 1000;
/**
 * Notices that are kept, the newest. They only inform, and a gateway sends one for each blocked
 * event.
 */
const MAX_NOTICES = 1000;

/** The initial messages and state of a conversation. */
export type ConversationStart = {
  readonly messages?: readonly Message[] | undefined;
  readonly state?: JsonValue | undefined;
};

/** The conversation that the agent's events build, over all runs. */
export type Conversation = {
  view(): RunView;
  readonly renderHints: readonly RenderHintView[];
  readonly notices: readonly BlockedNotice[];
  /** Begins a run: adds the person's messages and marks the point to which a replay returns. */
  begin(added: readonly Message[]): void;
  push(event: AgUiEvent): void;
  /** Discards the events of the run, because the server replays them. */
  rewind(): void;
};

/** Creates a conversation. */
export function createConversation(start: ConversationStart): Conversation {
  let base: ReducerInitial = {
    messages: start.messages ?? [],
    ...(start.state === undefined ? {} : { state: start.state }),
  };
  let reducer: Reducer = createReducer(base);
  let renderHints: readonly RenderHintView[] = [];
  let notices: readonly BlockedNotice[] = [];
  let kept = { renderHints, notices };
  let hintNumber = 0;

  function addHint(hint: Pick<RenderHintView, "component" | "props">): void {
    assertWithin("maxRenderHints", renderHints.length + 1, MAX_HINTS);
    hintNumber += 1;
    renderHints = [...renderHints, { id: `hint-${hintNumber}`, ...hint, ...position() }];
  }

  /** The current run and message, for an entry that is not itself a message. */
  function position(): { runId?: string; afterMessageId?: string } {
    const { messages, runId } = reducer.snapshot();
    const afterMessageId = messages.at(-1)?.id;
    return {
      ...(runId === undefined ? {} : { runId }),
      ...(afterMessageId === undefined ? {} : { afterMessageId }),
    };
  }

  return {
    view: () => reducer.snapshot(),
    get renderHints() {
      return renderHints;
    },
    get notices() {
      return notices;
    },
    begin(added) {
      const { messages, state, pendingInterrupts } = reducer.snapshot();
      base = { messages: [...messages, ...added], state, pendingInterrupts };
      reducer = createReducer(base);
      kept = { renderHints, notices };
    },
    push(event) {
      reducer.push(event);
      if (event.type !== "CUSTOM") return;
      const hint = renderHintOf(event);
      if (hint !== undefined) addHint(hint);
      const notice = blockedNoticeOf(event);
      if (notice === undefined) return;
      notices = [...notices.slice(1 - MAX_NOTICES), { ...notice, ...position() }];
    },
    rewind() {
      reducer = createReducer(base);
      ({ renderHints, notices } = kept);
    },
  };
}
