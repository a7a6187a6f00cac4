// One of the two sides: a conversation with the agent at one URL, in one window of the shop.
import { createConversation } from "./conversation.js";
import { element } from "./element.js";
import { runAgent } from "./stream.js";
import { createShop, TOOLS } from "./tools.js";

/**
 * A side of the page.
 *
 * @param onEvent is called with each event that arrives
 * @param onChange is called when the side begins or ends to stream
 */
export function createSide(root, url, { onEvent, onChange }) {
  const shop = createShop(root);
  const list = root.querySelector(".messages");
  const history = createConversation();
  const threadId = crypto.randomUUID();
  const executed = new Set();
  const made = new Map();
  let controller;
  let turn = 0;
  let ended = Promise.resolve();

  // The newest message stays in view when a form or a pop-up takes room.
  const toEnd = () => {
    list.scrollTop = list.scrollHeight;
  };
  new ResizeObserver(toEnd).observe(list);

  function show(kind, text) {
    const bubble = element("div", { class: `message ${kind}`, text });
    list.append(bubble);
    toEnd();
    return bubble;
  }

  /** Executes a call of one of the shop's tools, once, however it arrived. */
  function execute(call, answers) {
    if (call === undefined || executed.has(call.id) || !shop.has(call.function.name)) return;
    executed.add(call.id);
    let args;
    try {
      args = JSON.parse(call.function.arguments || "{}");
    } catch {
      return;
    }
    const { made: shown, result } = shop.execute(call.function.name, args);
    if (shown !== undefined) made.set(call.id, shown);
    if (result === undefined) return;
    answers.push(
      result.then((content) => ({
        id: crypto.randomUUID(),
        role: "tool",
        toolCallId: call.id,
        content,
      })),
    );
  }

  async function runOnce(runId, answers) {
    const input = {
      threadId,
      runId,
      protocolVersion: "1.0",
      messages: history.messages,
      tools: TOOLS,
      context: [],
    };
    const bubbles = new Map();
    let isFinished = false;
    for await (const event of runAgent(url, input, controller.signal)) {
      history.apply(event);
      if (event.type === "TEXT_MESSAGE_START") {
        bubbles.set(event.messageId, show("assistant", ""));
      } else if (event.type === "TEXT_MESSAGE_CONTENT") {
        const bubble = bubbles.get(event.messageId);
        if (bubble) bubble.textContent += event.delta;
        toEnd();
      } else if (event.type === "TOOL_CALL_END") {
        execute(history.findCall(event.toolCallId), answers);
      } else if (event.type === "MESSAGES_SNAPSHOT") {
        for (const message of event.messages) {
          for (const call of message.toolCalls ?? []) execute(call, answers);
        }
      } else if (event.type === "RUN_ERROR") {
        show("error", event.message);
      }
      isFinished ||= event.type === "RUN_FINISHED";
      onEvent(event);
    }
    return isFinished;
  }

  /** Runs the agent until no answer is left to send, or until the next question. */
  async function converse(text, firstRun, onStreamed) {
    turn += 1;
    const own = turn;
    shop.reset();
    await ended;
    show("user", text);
    history.add({ id: crypto.randomUUID(), role: "user", content: text });
    let runId = firstRun;
    for (;;) {
      const answers = [];
      let isOver = false;
      let isFinished = false;
      controller = new AbortController();
      onChange();
      try {
        isFinished = await runOnce(runId, answers);
      } catch (error) {
        isOver = true;
        show("error", controller.signal.aborted ? "Stopped." : error.message);
        shop.reset();
      } finally {
        controller = undefined;
        onChange();
        onStreamed(isFinished);
      }
      const results = await Promise.all(answers);
      for (const result of results) history.add(result);
      if (isOver || results.length === 0 || own !== turn) return;
      runId = crypto.randomUUID();
    }
  }

  return {
    /**
     * Asks the agent; resolves when its first run is over, with whether the agent finished it.
     * A form that still waits counts as cancelled.
     */
    ask: (text, runId) =>
      new Promise((resolve) => {
        ended = converse(text, runId, resolve);
      }),
    stop: () => controller?.abort(),
    get isStreaming() {
      return controller !== undefined;
    },
    /** Marks the traces of an act as harmful. */
    mark: (id) => {
      const shown = made.get(id);
      if (shown === undefined || shown.classList.contains("harmful")) return;
      shown.classList.add("harmful");
      shown.prepend(element("span", { class: "tag", text: "Harmful" }));
    },
  };
}
