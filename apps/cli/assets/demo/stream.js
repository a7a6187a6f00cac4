// Reads an AG-UI stream over POST + SSE: the few lines an app without a library would write.

/** Yields the events of one run. */
export async function* runAgent(url, input, signal) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(input),
    signal,
  });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    const error = new Error(problem.title ?? `the agent answered ${response.status}`);
    throw Object.assign(error, { code: problem.code, receipt: problem.receipt });
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    pending += value;
    const frames = pending.split("\n\n");
    pending = frames.pop();
    for (const frame of frames) {
      if (frame.startsWith("data: ")) yield JSON.parse(frame.slice(6));
    }
  }
}
