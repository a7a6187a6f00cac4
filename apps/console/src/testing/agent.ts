import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";

/** A policy under which some things pass, some are blocked and some would be blocked in enforce mode. */
export const MIXED_POLICY = `hushspec: "0.1.0"
name: support desk
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
  ag_ui_inbound: { enabled: true, mode: observe, default: block }
`;

type Ids = { readonly threadId: string; readonly runId: string };

/** Talks, calls a tool, changes the state; a run whose id begins with `held` then waits until it is stopped. */
export const TALKING_AGENT: FakeScript = (request) => ({
  pieces: (async function* (): AsyncGenerator<FakePiece> {
    const { threadId, runId } = JSON.parse(request.body) as Ids;
    const ids = { threadId, runId };
    const id = `m-${runId}`;
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
    for (const delta of ["Let ", "me ", "look ", "at ", "your ", "order."]) {
      yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta });
    }
    yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: id });
    yield sseFrame({ type: "STATE_DELTA", delta: [{ op: "add", path: "/order", value: 7 }] });
    yield sseFrame({ type: "TOOL_CALL_START", toolCallId: `c-${runId}`, toolCallName: "refund" });
    yield sseFrame({ type: "TOOL_CALL_ARGS", toolCallId: `c-${runId}`, delta: "{}" });
    yield sseFrame({ type: "TOOL_CALL_END", toolCallId: `c-${runId}` });
    yield sseFrame({ type: "CUSTOM", name: "confetti", value: 1 });
    if (runId.startsWith("held")) {
      await new Promise((resolve) => {
        request.signal.addEventListener("abort", resolve, { once: true });
      });
      return;
    }
    if (runId.startsWith("slow")) await new Promise((resolve) => setTimeout(resolve, 1500));
    yield sseFrame({ type: "RUN_FINISHED", ...ids });
  })(),
});
