// One of the two sides: a conversation with the agent at one URL, in one window of the shop.
import { drawActivity } from "./a2ui.js";
import { createChat } from "./chat.js";
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
  const chat = createChat(root.querySelector(".messages"));
  const shop = createShop(root, chat);
  const history = createConversation();
  const threadId = crypto.randomUUID();
  const executed = new Set();
  /** The elements that each act put on the page, and those that the answer to it led to. */
  const made = new Map();
  const harmful = new Set();
  let controller;
  let turn = 0;
  let ended = Promise.resolve();

  /** Keeps an element of an act, and marks it if the act is known to be harmful. */
  function keep(id, shown) {
    made.set(id, [...(made.get(id) ?? []), shown]);
    if (harmful.has(id)) tag(shown);
  }

  function tag(shown) {
    if (shown.querySelector(":scope > .tag") !== null) return;
    shown.classList.add("harmful");
    shown.prepend(element("span", { class: "tag", text: "Harmful" }));
    chat.toEnd();
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
    if (shown !== undefined) keep(call.id, shown);
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

  /** A press of a drawn button runs the agent on this side alone. */
  function press(label, click, id) {
    if (controller !== undefined) return;
    ended = converse({ pressed: label, click, causes: [id] }, crypto.randomUUID(), () => undefined);
  }

  function draw({ messageId, activityType, content }) {
    if (activityType !== "a2ui-surface") return;
    const drawn = drawActivity(content, (label, click) => press(label, click, messageId));
    if (drawn === undefined) return;
    chat.draw(messageId, drawn);
    keep(messageId, drawn);
  }

  /**
   * @param causes the acts that led to this run: calls whose form the person confirmed, or a card whose button was pressed
   * @param click the press of a drawn button, for the agent
   */
  async function runOnce(runId, answers, causes, click) {
    const input = {
      threadId,
      runId,
      protocolVersion: "1.0",
      messages: history.messages,
      tools: TOOLS,
      context: [],
      ...(click && {
        forwardedProps: {
          a2uiAction: { userAction: { ...click, timestamp: new Date().toISOString() } },
        },
      }),
    };
    let isFinished = false;
    for await (const event of runAgent(url, input, controller.signal)) {
      history.apply(event);
      if (event.type === "TEXT_MESSAGE_START") {
        const bubble = chat.add(event.role ?? "assistant", "", event.messageId);
        for (const id of [event.messageId, ...causes]) keep(id, bubble);
      } else if (event.type === "TEXT_MESSAGE_CONTENT") {
        chat.append(event.messageId, event.delta);
      } else if (event.type === "TOOL_CALL_END") {
        execute(history.findCall(event.toolCallId), answers);
      } else if (event.type === "ACTIVITY_SNAPSHOT") {
        draw(event);
      } else if (event.type === "MESSAGES_SNAPSHOT") {
        for (const { id, role, content, toolCalls = [] } of event.messages) {
          const changed = role === "user" ? chat.restate(id, content) : undefined;
          if (changed !== undefined) keep(id, changed);
          for (const call of toolCalls) execute(call, answers);
        }
      } else if (event.type === "RUN_ERROR") {
        chat.add("error", event.message);
      }
      isFinished ||= event.type === "RUN_FINISHED";
      onEvent(event);
    }
    return isFinished;
  }

  /**
   * Runs the agent until no answer is left to send, or until the next question.
   *
   * @param said a question as `text`, or a `click`: one of the person has the `pressed` label, one of an advertisement its `ad`
   */
  async function converse({ text, click, pressed, ad, causes = [] }, firstRun, onStreamed) {
    turn += 1;
    const own = turn;
    shop.reset();
    await ended;
    if (text !== undefined) {
      // Both sides send the question with one id, as their runs have one id.
      const id = `question-${firstRun}`;
      chat.add("user", text, id);
      history.add({ id, role: "user", content: text });
    }
    if (pressed !== undefined) chat.add("press", `You pressed “${pressed}”.`);
    if (ad !== undefined) shop.advertise(ad);
    let runId = firstRun;
    let [led, sent] = [causes, click];
    for (;;) {
      const answers = [];
      let isOver = false;
      let isDecided = false;
      controller = new AbortController();
      onChange();
      try {
        isDecided = await runOnce(runId, answers, led, sent);
      } catch (error) {
        isOver = true;
        isDecided = error.receipt !== undefined;
        if (ad !== undefined && isDecided)
          chat.add("done", `Refused, the agent never got that click: ${error.code}`);
        else {
          chat.add("error", controller.signal.aborted ? "Stopped." : error.message);
          shop.reset();
        }
      } finally {
        controller = undefined;
        onChange();
        onStreamed(isDecided);
      }
      const results = await Promise.all(answers);
      for (const result of results) history.add(result);
      if (isOver || results.length === 0 || own !== turn) return;
      sent = undefined;
      led = results
        .filter(({ content }) => content === "confirmed")
        .map(({ toolCallId }) => toolCallId);
      runId = crypto.randomUUID();
    }
  }

  return {
    /**
     * Says something to the agent; resolves when its first run is over, with whether a decision about its end follows.
     * A form that still waits counts as cancelled.
     */
    say: (said, runId) =>
      new Promise((resolve) => {
        ended = converse(said, runId, resolve);
      }),
    stop: () => controller?.abort(),
    get isStreaming() {
      return controller !== undefined;
    },
    /** Marks the traces of an act as harmful, those that are there and those that follow. */
    mark: (id) => {
      harmful.add(id);
      for (const shown of made.get(id) ?? []) tag(shown);
    },
  };
}
