// A chat without a library: one socket, one JSON text a frame. What the gateway lets through is a valid AG-UI stream, so this page
// has nothing to repair; what it sends back must be the conversation as it was delivered, word for word, or it is refused.

const conversation = document.querySelector("#conversation");
const form = document.querySelector("#ask");
const question = document.querySelector("#question");
const send = document.querySelector("#ask button");
const state = document.querySelector("#state");

const threadId = crypto.randomUUID();
const messages = [];
const lines = new Map();
const calls = new Map();
const address = document.querySelector('meta[name="gateway"]').content;
const socket = new WebSocket(`${address}?session=${crypto.randomUUID()}`);

socket.addEventListener("open", () => wait("ready"));
socket.addEventListener("close", () => {
  wait("the connection is gone; load the page again");
  send.disabled = true;
});
socket.addEventListener("message", ({ data }) => {
  const event = JSON.parse(data);
  onEvent[event.type]?.(event);
});

form.addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  send.disabled = true;
  add({ id: crypto.randomUUID(), role: "user", content: question.value });
  write("user", question.value);
  question.value = "";
  const input = { threadId, runId: crypto.randomUUID(), messages };
  socket.send(JSON.stringify({ ...input, tools: [], context: [], state: {}, forwardedProps: {} }));
});

const onEvent = {
  RUN_STARTED: () => (state.textContent = "the agent is writing …"),
  RUN_FINISHED: () => wait("ready"),
  RUN_ERROR: ({ message, code }) => wait(`${message} (${code ?? "no code"})`),
  TEXT_MESSAGE_START: ({ messageId: id, role }) => {
    lines.set(id, { message: add({ id, role, content: "" }), line: write(role, "") });
  },
  TEXT_MESSAGE_CONTENT: ({ messageId, delta }) => {
    const { message, line } = lines.get(messageId);
    message.content += delta;
    // As text, never as markup: whatever an agent writes, it stays words.
    line.textContent = message.content;
  },
  TOOL_CALL_START: ({ toolCallId: id, toolCallName: name, parentMessageId }) => {
    const parent =
      messages.find((message) => message.id === parentMessageId) ??
      add({ id: parentMessageId ?? id, role: "assistant" });
    const call = { id, type: "function", function: { name, arguments: "" } };
    (parent.toolCalls ??= []).push(call);
    calls.set(id, call);
    write("call", `the agent calls ${name}`);
  },
  TOOL_CALL_ARGS: ({ toolCallId, delta }) => (calls.get(toolCallId).function.arguments += delta),
  TOOL_CALL_RESULT: ({ messageId: id, toolCallId, content }) =>
    add({ id, role: "tool", toolCallId, content }),
  CUSTOM: ({ name, value }) => {
    if (name === "countersign.blocked") write("kept", `kept back: ${value.reason}`);
  },
};

function add(message) {
  messages.push(message);
  return message;
}

function write(kind, text) {
  const line = document.createElement("li");
  line.className = kind;
  line.textContent = text;
  conversation.append(line);
  line.scrollIntoView({ block: "nearest" });
  return line;
}

/** Nothing is under way: the person may ask. */
function wait(text) {
  state.textContent = text;
  send.disabled = false;
}
