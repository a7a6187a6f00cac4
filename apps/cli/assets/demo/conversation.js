// The history of a conversation, kept as AG-UI clients keep it: the gateway holds each request against what it delivered.

/** Messages in order, changed by the events that were delivered and by nothing else. */
export function createConversation() {
  let messages = [];

  const find = (id) => messages.find((message) => message.id === id);
  const findCall = (id) => {
    for (const message of messages) {
      const call = message.toolCalls?.find((known) => known.id === id);
      if (call !== undefined) return { message, call };
    }
    return undefined;
  };

  function startText({ messageId, role, name }) {
    if (find(messageId) !== undefined) return;
    const message = { id: messageId, role: role ?? "assistant", content: "" };
    messages.push(name === undefined ? message : { ...message, name });
  }

  function addText({ messageId, delta }) {
    const message = find(messageId);
    if (message !== undefined) message.content = `${message.content ?? ""}${delta}`;
  }

  /** A call belongs to the message it names; without one it is a message of its own. */
  function startCall({ toolCallId, toolCallName, parentMessageId }) {
    const known = findCall(toolCallId);
    if (known !== undefined) {
      known.call.function.name = toolCallName;
      return;
    }
    const parent = parentMessageId ? find(parentMessageId) : undefined;
    let owner = parent;
    if (owner?.role !== "assistant") {
      const id = parentMessageId && parent === undefined ? parentMessageId : toolCallId;
      owner = { id, role: "assistant" };
      messages.push(owner);
    }
    const call = {
      id: toolCallId,
      type: "function",
      function: { name: toolCallName, arguments: "" },
    };
    owner.toolCalls = [...(owner.toolCalls ?? []), call];
  }

  function addArguments({ toolCallId, delta }) {
    const known = findCall(toolCallId);
    if (known !== undefined) known.call.function.arguments += delta;
  }

  /** A result stands behind the message of its call and that one's earlier results. */
  function addResult({ messageId, toolCallId, content }) {
    const result = { id: messageId, role: "tool", toolCallId, content };
    const owner = findCall(toolCallId)?.message;
    let place = owner === undefined ? messages.length : messages.indexOf(owner) + 1;
    while (owner !== undefined && messages[place]?.role === "tool") place += 1;
    messages.splice(place, 0, result);
  }

  /** A message list restates the conversation: known messages keep their place, unseen ones come last. */
  function restate({ messages: stated }) {
    const incoming = new Map(stated.map((message) => [message.id, message]));
    const known = new Set(messages.map(({ id }) => id));
    const kept = messages.filter(({ id }) => incoming.has(id)).map(({ id }) => incoming.get(id));
    const unseen = stated.filter(({ id }) => !known.has(id));
    messages = [...kept, ...unseen].map((message) => structuredClone(message));
  }

  const steps = new Map([
    ["TEXT_MESSAGE_START", startText],
    ["TEXT_MESSAGE_CONTENT", addText],
    ["TOOL_CALL_START", startCall],
    ["TOOL_CALL_ARGS", addArguments],
    ["TOOL_CALL_RESULT", addResult],
    ["MESSAGES_SNAPSHOT", restate],
  ]);

  return {
    get messages() {
      return messages;
    },
    /** Takes an event of a run; events that say nothing about messages change nothing. */
    apply: (event) => steps.get(event.type)?.(event),
    /** Adds what this side says: a question, or the answer of one of its tools. */
    add: (message) => void messages.push(message),
    /** The call with an id, as far as it was delivered. */
    findCall: (id) => findCall(id)?.call,
  };
}
