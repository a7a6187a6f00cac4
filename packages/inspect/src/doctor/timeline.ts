import { writeJson } from "@countersign/core";
import type { SeenEvent } from "../check/stream-check.js";
import type { Phases } from "../probe/phase.js";
import { round } from "../probe/phase.js";
import type { Timeline, TimelineEvent } from "./report.js";

/** Bounds of what a report keeps: a recording of a million events must not fill the memory. */
const MAX_EVENTS = 5000;
const MAX_JSON = 4096;
const MAX_JSON_TOTAL = 4 * 1024 * 1024;

/** Keeps the first events with their times. */
export class TimelineRecorder {
  readonly #events: TimelineEvent[] = [];
  #omitted = 0;
  #json = 0;

  add(event: SeenEvent, atMs: number): void {
    if (this.#events.length >= MAX_EVENTS) {
      this.#omitted++;
      return;
    }
    const kept: TimelineEvent = {
      eventNumber: event.eventNumber,
      atMs: round(atMs),
      type: event.type,
      bytes: event.bytes,
      rules: event.rules,
    };
    if (this.#json >= MAX_JSON_TOTAL || event.source === null) {
      this.#events.push(kept);
      return;
    }
    const text = typeof event.source === "string" ? event.source : writeJson(event.source);
    const json = text.length <= MAX_JSON ? text : `${text.slice(0, MAX_JSON)}…`;
    this.#json += json.length;
    this.#events.push({ ...kept, json });
  }

  timeline(phases?: Phases): Timeline {
    return { phases: phases?.list ?? [], events: this.#events, omitted: this.#omitted };
  }
}
