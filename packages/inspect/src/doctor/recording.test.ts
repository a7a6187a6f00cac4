import { expect, test } from "vitest";
import { faults } from "../testing/run-check.js";
import { examineRecording } from "./recording.js";

const RUN = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}';
const FINISH = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}';

async function* cut(text: string, size = 50): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const line = (connId: string, event: string, extra = ""): string =>
  `{"kind":"event","connId":"${connId}","seq":1,"tMs":1,"event":${event}${extra}}`;
const request = (connId: string, runId: string, resume = ""): string =>
  `{"kind":"request","connId":"${connId}","tMs":0,"method":"POST","url":"/","input":{"threadId":"t","runId":"${runId}","messages":[]${resume}}}`;

test.each([
  ["events as JSON lines", `${RUN}\n${FINISH}\n`, "jsonl"],
  ["the body of a response", `data: ${RUN}\n\ndata: ${FINISH}\n\n`, "sse"],
  ["a recording", [line("c", RUN), line("c", FINISH)].join("\n"), "agui.jsonl"],
])(
  "%s is recognised and clean, and what cannot be judged is listed with its reason",
  async (_name, text, encoding) => {
    const report = await examineRecording("x", cut(text));
    expect(report.findings).toEqual([]);
    expect(report.exchange).toMatchObject({ encoding });
    expect(report.stream).toMatchObject({ events: 2, runs: 1 });
    expect(report.skipped.map(({ what }) => what)).toContain("network");
  },
);

test("interleaved connections are judged each by itself, against what each asked for", async () => {
  const own = (runId: string): string[] =>
    [RUN, FINISH].map((event) => event.replace('"r"', `"${runId}"`));
  const [a1 = "", a2 = ""] = own("a");
  const [b1 = "", b2 = ""] = own("b");
  const good = [
    request("1", "a"),
    request("2", "b"),
    line("1", a1),
    line("2", b1),
    line("1", a2),
    line("2", b2),
  ];
  expect((await examineRecording("x", cut(good.join("\n")))).findings).toEqual([]);
  const other = [request("1", "z"), line("1", a1), line("1", a2)];
  expect(faults((await examineRecording("x", cut(other.join("\n")))).findings)).toEqual([
    "run/requested-run",
  ]);
});

test("a request between events is no event, and begins a stream of its own", async () => {
  const asked = (runId: string) =>
    JSON.stringify({ threadId: "t", runId, state: {}, messages: [], tools: [], context: [] });
  const lines = [asked("r"), RUN, FINISH, `{"request":${asked("r")}}`, RUN, FINISH];
  expect((await examineRecording("x", cut(lines.join("\n")))).findings).toEqual([]);
  const other = [asked("z"), RUN, FINISH];
  expect(faults((await examineRecording("x", cut(other.join("\n")))).findings)).toEqual([
    "run/requested-run",
  ]);
});

test("an event that repeats its request is an event", async () => {
  const input = { threadId: "t", runId: "r", state: {}, messages: [], tools: [], context: [] };
  const started = JSON.stringify({ type: "RUN_STARTED", threadId: "t", runId: "r", input });
  const report = await examineRecording("x", cut([started, FINISH].join("\n")));
  expect(report.findings).toEqual([]);
  expect(report.stream).toMatchObject({ events: 2, runs: 1 });
});

test("a run that leaves interrupts of the one before unanswered is told", async () => {
  const interrupted =
    '{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"x"}]}}';
  const first = [
    request("1", "r"),
    line("1", RUN),
    line("1", interrupted),
    '{"kind":"end","connId":"1","tMs":2,"reason":"complete"}',
  ];
  const next = (resume: string): string[] => [
    request("2", "r2", resume),
    line("2", RUN.replace('"r"', '"r2"')),
    line("2", FINISH.replace('"r"', '"r2"')),
  ];
  const answered = next(',"resume":[{"interruptId":"i1","status":"cancelled"}]');
  expect(
    faults((await examineRecording("x", cut([...first, ...answered].join("\n")))).findings),
  ).toEqual([]);
  expect(
    faults((await examineRecording("x", cut([...first, ...next("")].join("\n")))).findings),
  ).toEqual(["interrupt/resume-coverage"]);
});

test("a recorded break is the transport's fault, and nothing at all is a stream that never began", async () => {
  const broken = [line("1", RUN), '{"kind":"end","connId":"1","tMs":2,"reason":"cut"}'];
  expect(faults((await examineRecording("x", cut(broken.join("\n")))).findings)).toEqual([
    "http/cut",
  ]);
  expect(faults((await examineRecording("x", cut(""))).findings)).toEqual(["run/truncated"]);
});

test("lines of other tools and later versions are passed over or judged, never thrown on", async () => {
  const odd = [
    '{"kind":"header"}',
    '{"kind":"note","x":1}',
    '{"kind":"event"}',
    "[]",
    "nonsense",
    line("c", RUN, ',"sseEvent":"e"'),
    line("c", FINISH),
    line("c", "null"),
    '{"kind":"event","connId":5,"tMs":"x","event":{}}',
  ];
  const report = await examineRecording("x", cut(odd.join("\n"), 7));
  expect(report.findings.map(({ rule }) => rule)).toContain("json/syntax");
});

test("a long recording keeps a bounded timeline and says how much is left out", async () => {
  const events = Array.from({ length: 6000 }, () => '{"type":"CUSTOM","name":"x/y","value":1}');
  const report = await examineRecording("x", cut([RUN, ...events, FINISH].join("\n"), 65_536));
  expect(report.timeline.events).toHaveLength(5000);
  expect(report.timeline.omitted).toBe(1002);
  expect(report.stream?.events).toBe(6002);
});
