import {
  carryEnvelope,
  createUpgrader,
  UI_RENDER_HINT_NAME,
  unwrapPartialEnvelope,
  upgradeInput,
} from "@countersign/wire/dialects";
import type { JsonObject } from "@countersign/core";
import { createPassage } from "../pipeline/passage.js";
import type { Stage } from "../pipeline/stage.js";
import { createEventIds } from "./event-ids.js";

/** Whatever dialect the agent speaks becomes AG-UI 1.0; what has no defined translation is refused. */
export const translate: Stage = {
  name: "translate",
  open: (run, next) => {
    const upgrader = createUpgrader({
      dialect: run.agentDialect,
      threadId: run.threadId,
      runId: run.runId,
      mintId: run.mintId,
    });
    const idOf = createEventIds(() => run.input.messages.map(({ id }) => id), run.mintId);
    return {
      push: (passage) => {
        if (passage.value === undefined) return;
        const { events, notes, claim } = upgrader.push(passage.value);
        if (notes.length > 0) run.observer.notes(notes);
        const { receivedAt } = passage;
        if (claim === undefined) {
          for (let index = 0; index < events.length; index += 1) {
            const native = index === 0 ? passage : createPassage(receivedAt);
            const value = events[index] as JsonObject;
            native.value = value;
            native.isHint = upgrader.dialect === "0.1.0" && value["name"] === UI_RENDER_HINT_NAME;
            next.push(native);
          }
          return;
        }
        // One envelope is one event and one receipt; its native form is the client leg's affair.
        const [first] = events;
        if (first?.["type"] === "RUN_STARTED") {
          // Nobody judges or signs for it, so nothing of the agent's own word may ride in it.
          const { metadata: _metadata, ...value } = first;
          const supplied = createPassage(receivedAt);
          supplied.value = value;
          supplied.supplied = true;
          next.push(supplied);
        }
        const envelope = { ...claim.envelope, event_id: idOf(claim.envelope.event_id) };
        passage.value = carryEnvelope(envelope);
        passage.claim = { ...claim, envelope };
        next.push(passage);
      },
      end: (end) => next.end(end),
    };
  },
  admit: (request) => {
    if (request.value === undefined) return;
    if (request.kind === "message") {
      request.message = unwrapPartialEnvelope(request.value);
      return;
    }
    const { input } = upgradeInput(request.value, {
      dialect: "auto",
      threadId: request.sessionId,
      mintId: request.mintId,
    });
    request.value = input;
  },
};
