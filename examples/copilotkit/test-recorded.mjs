// CopilotKit's middleware makes activities of the arguments of `generateSandboxedUi`: the gateway reads the same HTML in both.
import assert from "node:assert/strict";
import { transformRecordedEvents } from "@copilotkit/shared/event-transforms";
import * as fc from "fast-check";
import { createSurfaceModel } from "../../packages/surface/dist/index.js";
import { applyJsonPatch } from "../../packages/wire/dist/reduce/index.js";

const INPUT = {
  threadId: "t",
  runId: "r",
  messages: [],
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
};
const code = fc.constantFrom(
  "<form action='https://a.example/'><input type=password></form>",
  '<p title="x">"quoted" \\ ü 😀</p>\n<script>go()</script>',
  "a { background: url(https://b.example/x) }",
  "",
);
const other = fc.oneof(fc.constantFrom(null, 7, true), fc.array(code, { maxLength: 2 }));
const odd = fc.oneof(other, fc.record({ inner: code }), fc.tuple(fc.record({ inner: code })));
const mostly = (value) => fc.oneof({ weight: 8, arbitrary: value }, odd);
const call = fc.record(
  {
    initialHeight: mostly(fc.nat(900)),
    placeholderMessages: mostly(fc.array(code, { maxLength: 2 })),
    css: mostly(code),
    html: mostly(code),
    jsFunctions: mostly(code),
    jsExpressions: mostly(fc.array(code, { maxLength: 2 })),
    extra: fc.oneof(odd, fc.record({ html: code, extra: fc.tuple(code) })),
  },
  { requiredKeys: [] },
);
const shuffled = call.chain((value) =>
  fc
    .shuffledSubarray(Object.keys(value), { minLength: Object.keys(value).length })
    .map((keys) => Object.fromEntries(keys.map((key) => [key, value[key]]))),
);
const cuts = fc.array(fc.nat(400), { maxLength: 12 });

/** A recorded run of one call, its arguments cut at these places. */
function recorded(text, places) {
  const ends = [...new Set([...places.filter((at) => at > 0 && at < text.length), text.length])];
  ends.sort((one, two) => one - two);
  let start = 0;
  const pieces = ends.map((end) => {
    const delta = text.slice(start, end);
    start = end;
    return { type: "TOOL_CALL_ARGS", toolCallId: "c", delta };
  });
  return [
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "generateSandboxedUi" },
    ...pieces,
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  ];
}

/** The facts for the rules, and the hash of HTML, styles and scripts. */
function factsOf(model, facts) {
  if (facts.problems.some(({ isUndecided }) => isUndecided)) return undefined;
  const html = model.surfaces.find(({ kind }) => kind === "html-sandbox")?.html;
  const component = model.drawings(model.surfaces[0]?.sourceId ?? "", 1)[0]?.components[0]
    ?.component;
  const { urls = [], inputs = [] } = component ?? {};
  return { html, urls: urls.map(({ value }) => value), inputs: inputs.map(({ type }) => type) };
}

/** Reads the activities that the middleware makes, each as the client has it after the event. */
function readActivities(events) {
  const model = createSurfaceModel();
  let content;
  let facts;
  for (const event of events) {
    if (event.type === "ACTIVITY_SNAPSHOT") content = structuredClone(event.content);
    // Without a member that it knows the middleware opens no activity.
    else if (event.type === "ACTIVITY_DELTA" && content !== undefined) {
      const patched = applyJsonPatch(content, event.patch);
      assert.ok(patched.applied);
      content = structuredClone(patched.document);
    } else continue;
    const { messageId, activityType } = event;
    facts = model.apply({ kind: "activity", messageId, activityType, content });
  }
  return facts === undefined ? undefined : factsOf(model, facts);
}

function readArguments(text) {
  const model = createSurfaceModel();
  const call = { toolCallId: "c", name: "generateSandboxedUi", text, complete: true };
  return factsOf(model, model.apply({ kind: "arguments", ...call }));
}

/** Generated calls; those that the gateway blocks as undecided never reach the middleware. */
export async function checkRecorded({ check }) {
  await check("HTML of an agent is the same before and after CopilotKit's middleware", async () => {
    let compared = 0;
    const property = fc.asyncProperty(shuffled, cuts, fc.boolean(), async (value, places, wide) => {
      const text = JSON.stringify(value, null, wide ? 2 : 0);
      const before = readArguments(text);
      if (before === undefined) return;
      const events = await transformRecordedEvents(INPUT, recorded(text, places), {
        openGenerativeUI: true,
      });
      const after = readActivities(events);
      if (after === undefined) {
        assert.deepEqual(before.html?.bytes, 0);
        return;
      }
      compared += 1;
      assert.deepEqual(after, before);
    });
    await fc.assert(property, { numRuns: 1_000 });
    assert.ok(compared > 200, `only ${compared} compared`);
  });
}
