// The acts of one question: the ones that the gateway stopped, and the ones that reached each side.
import { describeAct, tellReason } from "./sentences.js";

/** The id of the act that an event belongs to, the same on both sides. */
export function actOfEvent(event) {
  return event.toolCallId ?? event.messageId;
}

/** Collects decisions by act and tells them in groups. */
export function createActs() {
  const acts = new Map();
  const arrived = { direct: new Set(), guarded: new Set() };

  /** The stopped acts, alike ones together, in the order of their first decision. */
  function groups() {
    const found = new Map();
    const passed = new Set();
    for (const act of acts.values()) {
      const { key, tell } = describeAct(act.latest);
      if (act.stopped.length === 0) {
        passed.add(key);
        continue;
      }
      const group = found.get(key) ?? { tell, key, ids: [], receipts: [] };
      group.ids.push(act.id);
      group.receipts.push(...act.stopped);
      found.set(key, group);
    }
    return [...found.values()].map(({ tell, key, ids, receipts }) => {
      const reached = ids.filter((id) => arrived.direct.has(id)).length;
      return {
        text: tell(ids.length, passed.has(key)),
        reason: tellReason(receipts[0]),
        count: ids.length,
        ids,
        receipts,
        /** How many reached the unprotected side, and that in words. */
        reached,
        reachedText: tell(reached, passed.has(key)),
        /** How many reached the protected side: none, or the gateway is broken. */
        leaked: ids.filter((id) => arrived.guarded.has(id)).length,
      };
    });
  }

  return {
    groups,
    /** Takes a decision of the gateway about an event to the person. */
    decide: (decision) => {
      if (decision.direction === "inbound") return;
      const id = decision.act?.id ?? decision.receipt_id;
      const act = acts.get(id) ?? { id, stopped: [] };
      act.latest = decision;
      if (!decision.allowed) act.stopped.push(decision);
      acts.set(id, act);
    },
    /** Takes an event that reached one side, `direct` or `guarded`. */
    arrive: (side, event) => {
      const { messages = [] } = event.type === "MESSAGES_SNAPSHOT" ? event : {};
      // A list of messages brings calls of its own.
      const listed = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
      for (const id of [...listed, actOfEvent(event)]) if (id !== undefined) arrived[side].add(id);
    },
    clear: () => {
      acts.clear();
      arrived.direct.clear();
      arrived.guarded.clear();
    },
  };
}
