import { enforceEvent, enforceInput } from "@countersign/wire/enforce";
import type { Stage } from "../pipeline/stage.js";
import { assertEventIdentifiers, assertInputIdentifiers } from "./identifiers.js";

/** Holds every event to the AG-UI 1.0 schema: unknown material is dropped and noted, malformed is fatal. */
export const enforce: Stage = {
  name: "enforce",
  open: (run, next) => ({
    push: (passage) => {
      if (passage.value === undefined) return;
      const { event, notes } = enforceEvent(passage.value);
      if (notes.length > 0) run.observer.notes(notes);
      if (event === undefined) return;
      assertEventIdentifiers(event, run.limits.maxIdLength);
      passage.event = event;
      next.push(passage);
    },
    end: (end) => next.end(end),
  }),
  admit: (request) => {
    // A message of a socket was held to its own closed shape by the translation.
    if (request.value === undefined || request.kind === "message") return;
    const { input } = enforceInput(request.value);
    assertInputIdentifiers(input, request.limits.maxIdLength);
    request.input = input;
  },
};
