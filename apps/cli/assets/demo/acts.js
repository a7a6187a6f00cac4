// The acts of one question: the ones that the gateway stopped, and the ones that reached each side.
import { describeAct, tellReason } from "./sentences.js";

/** The acts that an event belongs to, each with its text; the ids are the same on both sides. */
function* partsOf({ type, messages = [], toolCallId, messageId, delta }) {
  if (type !== "MESSAGES_SNAPSHOT") {
    const id = toolCallId ?? messageId;
    if (id !== undefined) yield { id, text: type === "TEXT_MESSAGE_CONTENT" ? delta : "" };
    return;
  }
  // A list of messages brings calls of its own, and messages in the name of others.
  for (const { id, role, content, toolCalls = [] } of messages) {
    if (role !== "assistant" && typeof content === "string") {
      yield { id, text: content, isWhole: true };
    }
    for (const call of toolCalls) yield { id: call.id, text: "" };
  }
}

/** The ids of the acts that an event belongs to. */
export function actsOfEvent(event) {
  return [...partsOf(event)].map(({ id }) => id);
}

/** Collects decisions by act and tells them in groups. */
export function createActs() {
  const acts = new Map();
  /** The text of each act that reached a side; a call has none. */
  const arrived = { direct: new Map(), guarded: new Map() };

  /** Whether the whole act reached a side: of a message, the text as the agent sent it. */
  function hasArrived(side, id) {
    const text = arrived[side].get(id);
    return text !== undefined && text.startsWith(acts.get(id).told.act?.text ?? "");
  }

  /** The stopped acts, alike ones together, in the order of their first decision. */
  function groups() {
    const found = new Map();
    const passed = new Set();
    for (const act of acts.values()) {
      const { key, tell, harm } = describeAct(act.told);
      if (act.stopped.length === 0) {
        passed.add(key);
        continue;
      }
      const group = found.get(key) ?? { tell, key, harm, ids: [], receipts: [] };
      group.ids.push(act.id);
      group.receipts.push(...act.stopped);
      found.set(key, group);
    }
    return [...found.values()].map(({ tell, key, harm, ids, receipts }) => {
      const reached = ids.filter((id) => hasArrived("direct", id)).length;
      return {
        text: tell(ids.length, passed.has(key)),
        reason: tellReason(receipts[0]),
        harm,
        count: ids.length,
        ids,
        receipts,
        /** How many reached the unprotected side, and that in words. */
        reached,
        reachedText: tell(reached, passed.has(key)),
        /** How many reached the protected side: none, or the gateway is broken. */
        leaked: ids.filter((id) => hasArrived("guarded", id)).length,
      };
    });
  }

  return {
    groups,
    /** Takes a decision of the gateway about an event to the person, or about a click that the person did not make. */
    decide: (decision) => {
      // A request is an act only where somebody else sent it in the name of the person.
      if (decision.direction === "inbound" && decision.act === undefined) return;
      const id = decision.act?.id ?? decision.receipt_id;
      const act = acts.get(id) ?? { id, stopped: [] };
      // A message may begin harmless: the decision that stopped it tells what it is.
      if (!decision.allowed || act.stopped.length === 0) act.told = decision;
      if (!decision.allowed) act.stopped.push(decision);
      acts.set(id, act);
    },
    /** Takes an event that reached one side, `direct` or `guarded`. */
    arrive: (side, event) => {
      for (const { id, text, isWhole = false } of partsOf(event)) {
        const before = isWhole ? "" : (arrived[side].get(id) ?? "");
        arrived[side].set(id, `${before}${text}`);
      }
    },
    clear: () => {
      acts.clear();
      arrived.direct.clear();
      arrived.guarded.clear();
    },
  };
}
