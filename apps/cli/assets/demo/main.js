import { createConversation } from "./conversation.js";
import { addDecision, addUnguarded, clearFeed } from "./feed.js";
import { runAgent } from "./stream.js";
import { execute, resetScreen, TOOLS } from "./tools.js";

const session = crypto.randomUUID();
const settings = await (await fetch(`settings.json?session=${session}`)).json();
const list = document.querySelector("#messages");
const composer = document.querySelector("#composer");
const field = document.querySelector("#text");
const stop = document.querySelector("#stop");
const banner = document.querySelector("#banner");

let mode = "guarded";
let thread;
let running;

function startOver() {
  thread = { id: crypto.randomUUID(), history: createConversation(), executed: new Set() };
  list.replaceChildren();
  resetScreen();
  clearFeed();
  document.body.classList.toggle("direct", mode === "direct");
  document.querySelector(".feed h2").textContent =
    mode === "direct" ? "What reached your screen" : "What the gateway saw";
  banner.textContent =
    mode === "direct"
      ? "No gateway: whatever the agent sends reaches your screen. Ask the same questions and compare."
      : "The agent below also tries things it should not do. The gateway judges every event before it reaches you.";
  show("note", "Ask about order #1024, or ask for a refund.");
}

function show(kind, text) {
  const bubble = document.createElement("div");
  bubble.className = `message ${kind}`;
  bubble.textContent = text;
  list.append(bubble);
  list.scrollTop = list.scrollHeight;
  return bubble;
}

/** Calls of this app's own tools that nobody has answered yet are executed, whichever way they arrived. */
async function executeCall(call, answers) {
  if (call === undefined || thread.executed.has(call.id)) return;
  const { name, arguments: text } = call.function;
  if (!TOOLS.some((tool) => tool.name === name)) return;
  thread.executed.add(call.id);
  let args = {};
  try {
    args = JSON.parse(text || "{}");
  } catch {
    return;
  }
  const result = await execute(name, args);
  if (result !== undefined)
    answers.push({ id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content: result });
}

async function runOnce() {
  const input = {
    threadId: thread.id,
    runId: crypto.randomUUID(),
    protocolVersion: "1.0",
    messages: thread.history.messages,
    tools: TOOLS,
    context: [],
  };
  const bubbles = new Map();
  const answers = [];
  const { history } = thread;
  let number = 0;
  for await (const event of runAgent(settings[mode], input, running.signal)) {
    number += 1;
    if (mode === "direct") addUnguarded(number, event);
    history.apply(event);
    if (event.type === "TEXT_MESSAGE_START") {
      bubbles.set(event.messageId, show("assistant", ""));
    } else if (event.type === "TEXT_MESSAGE_CONTENT") {
      const bubble = bubbles.get(event.messageId);
      if (bubble) bubble.textContent += event.delta;
      list.scrollTop = list.scrollHeight;
    } else if (event.type === "TOOL_CALL_END") {
      await executeCall(history.findCall(event.toolCallId), answers);
    } else if (event.type === "MESSAGES_SNAPSHOT") {
      for (const message of event.messages) {
        for (const call of message.toolCalls ?? []) await executeCall(call, answers);
      }
    } else if (event.type === "RUN_ERROR") {
      show("error", event.message);
    }
  }
  for (const answer of answers) history.add(answer);
  return answers.length > 0;
}

async function say(text) {
  if (running) return;
  resetScreen();
  show("user", text);
  thread.history.add({ id: crypto.randomUUID(), role: "user", content: text });
  running = new AbortController();
  stop.hidden = false;
  for (const button of document.querySelectorAll(".prompts button, .composer .primary"))
    button.disabled = true;
  try {
    while (await runOnce());
  } catch (error) {
    show("error", running.signal.aborted ? "Stopped." : error.message);
  } finally {
    running = undefined;
    stop.hidden = true;
    for (const button of document.querySelectorAll(".prompts button, .composer .primary"))
      button.disabled = false;
    // A disabled button loses the focus; whoever uses a keyboard goes on at the field.
    if (document.activeElement === document.body) field.focus();
  }
}

composer.addEventListener("submit", (submit) => {
  submit.preventDefault();
  const text = field.value.trim();
  if (text === "") return;
  field.value = "";
  void say(text);
});
stop.addEventListener("click", () => running?.abort());
for (const button of document.querySelectorAll(".prompts button")) {
  button.addEventListener("click", () => void say(button.dataset.say));
}
for (const choice of document.querySelectorAll("[name=mode]")) {
  choice.addEventListener("change", () => {
    mode = choice.value;
    running?.abort();
    startOver();
  });
}

const feed = new EventSource("feed");
feed.addEventListener("message", (message) => {
  const item = JSON.parse(message.data);
  if (mode === "guarded" && item.session_id === session) addDecision(item);
});

startOver();
