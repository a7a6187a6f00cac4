import { parseJson, writeJson } from "@countersign/core";
import {
  decodeRecordingLine,
  encodeRecordingLine,
  frameMembers,
  textMembers,
} from "../../packages/inspect/src/recording/line.js";
import { decodeRunInput } from "../../packages/projection/src/input/decode.js";
import { decodeLedgerEvent } from "../../packages/projection/src/ledger/event.js";
import { createLedgerSseReader } from "../../packages/projection/src/stream/ledger-sse.js";
import { readToolSchema } from "../../packages/projection/src/tools/schema.js";
import { parseCel } from "../../packages/redteam/src/oatf/cel/parse-source.js";
import { parse } from "../../packages/redteam/src/oatf/parse/parse.js";
import { parseDuration } from "../../packages/redteam/src/oatf/primitives/duration.js";
import { serialize } from "../../packages/redteam/src/oatf/serialize/serialize.js";
import { validate } from "../../packages/redteam/src/oatf/index.js";
import { readReportEntry } from "../../packages/redteam/src/report/suite.js";
import { readRefusal } from "../../packages/redteam/src/runner/refusal.js";
import { readDetails } from "../../packages/client/src/base/problem-details.js";
import { generateStream } from "../../packages/wire/src/testing/streams.js";
import { attempt, cut, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const INPUTS = [1, 2, 3, 4].map((seed) => JSON.stringify(generateStream(seed, 4).input));
const OATF = `oatf: "0.1"
attack:
  id: T-001
  name: sample
  severity: high
  execution:
    mode: ag_ui_client
    state:
      run_agent_input:
        messages:
          - { id: "1", role: user, content: "hello" }
  indicators:
    - target: response.content
      pattern: "hello"
      surface: ag_ui_response
`;
const ROW = '{"id":1,"ts":1,"kind":"run.started","scopeRef":"s","factOwnerRef":"o","payload":{}}';

export const DOCUMENT_TARGETS: readonly FuzzTarget[] = [
  {
    name: "run-input",
    property:
      "a RunAgentInput is read or refused with a coded error, and reading it twice gives the same",
    covers: [
      "packages/projection/src/input/decode.ts#decodeRunInput",
      "packages/projection/src/input/decode.ts#readInput",
      "packages/projection/src/input/decode.ts#readBody",
    ],
    dictionary: [
      '"thread_id":',
      '"role":"tool"',
      '"resume":[',
      '"tools":[',
      '"forwardedProps":{}',
      '"state":null',
    ],
    maxBytes: 4096,
    seeds: INPUTS,
    run(input) {
      const decoded = attempt(() => decodeRunInput(input));
      if (!decoded.ok) return;
      const text = writeJson(decoded.value as never);
      holdEqual(decodeRunInput(text), decoded.value, "an input survives");
    },
  },
  {
    name: "recording",
    property: "a line of an .agui.jsonl file is read or passed over, and a frame keeps its text",
    covers: ["packages/inspect/src/recording/line.ts#decodeRecordingLine"],
    dictionary: ['"kind":"event"', '"kind":"header"', '"connId":', '"tMs":', '"event":', "data: "],
    seeds: [
      '{"kind":"header","version":1}',
      '{"kind":"event","connId":"c","tMs":1,"event":{"type":"RUN_STARTED"}}',
      '{"kind":"end","connId":"c","tMs":2}',
      'data: {"a":1}\n\n',
    ],
    run(input) {
      const text = textOf(input);
      const value = attempt(() => parseJson(text));
      if (value.ok) {
        const line = decodeRecordingLine(value.value);
        if (line !== undefined) {
          const written = encodeRecordingLine(line);
          const again = decodeRecordingLine(parseJson(written.trimEnd()));
          hold(again !== undefined, "what is written is read again");
          holdEqual(encodeRecordingLine(again), written, "a written line is a fixed point");
        }
      }
      const { event, text: kept } = textMembers(text);
      holdEqual(kept ?? writeJson(event), text, "the text of an event is kept");
      attempt(() => frameMembers(text));
    },
  },
  {
    name: "oatf",
    property:
      "an OATF document parses or is refused with places, is validated without an error, and survives a round trip",
    covers: [
      "packages/redteam/src/oatf/parse/parse.ts#parse",
      "packages/redteam/src/oatf/yaml/read.ts#readYaml",
      "packages/core/src/cel/expression.ts#parseCel",
      "packages/redteam/src/oatf/cel/parse-source.ts#parseCel",
      "packages/redteam/src/oatf/primitives/duration.ts#parseDuration",
    ],
    dictionary: [
      "attack:\n",
      "  execution:\n",
      "phases:\n",
      "actors:\n",
      "&a ",
      "*a",
      "!!str ",
      "PT1H",
      "30s",
      "pattern: ",
      "cel: ",
    ],
    maxBytes: 4096,
    seeds: [OATF, "PT1H30M", "event.type == 'x'", "a: &a [*a]\n"],
    run(input) {
      const text = textOf(input);
      const duration = attempt(() => parseDuration(text));
      if (duration.ok) hold(duration.value >= 0, "a duration is not negative");
      if (text.length < 200) parseCel(text);
      const parsed = parse(text);
      if (!parsed.ok) {
        hold(parsed.errors.length + parsed.violations.length > 0, "a refusal has a reason");
        return;
      }
      validate(parsed.document);
      const written = attempt(() => serialize(parsed.document));
      if (!written.ok) return;
      const again = parse(written.value);
      hold(again.ok, "what is written is read again");
      holdEqual(serialize(again.document), written.value, "the canonical text is a fixed point");
    },
  },
  {
    name: "refusal",
    property: "the body of a refusal gives plain members or none",
    covers: [
      "packages/redteam/src/runner/refusal.ts#readRefusal",
      "packages/redteam/src/report/suite.ts#readReportEntry",
      "packages/client/src/base/problem-details.ts#readDetails",
    ],
    dictionary: ['"code":"', '"receipt":"', '"rule":"', '"direct":{"outcome":"', '"detail":'],
    seeds: [
      '{"type":"about:blank","code":"POLICY","rule":"x/y","receipt":"agui-1"}',
      '{"name":"a","direct":{"outcome":"missed","indicators":[]},"tags":[],"mappings":[]}',
      "<html>",
    ],
    run(input) {
      const text = textOf(input);
      readRefusal(403, text);
      const value = attempt(() => parseJson(text));
      if (!value.ok) return;
      readReportEntry(value.value);
      for (const member of Object.values(readDetails(value.value))) {
        hold(typeof member === "string", "a detail is a text");
      }
    },
  },
  {
    name: "ledger-row",
    property:
      "a row of a foreign ledger and a tool schema are read or refused, wherever the stream is cut",
    covers: [
      "packages/projection/src/ledger/event.ts#decodeLedgerEvent",
      "packages/projection/src/stream/ledger-sse.ts#createLedgerSseReader",
      "packages/projection/src/tools/schema.ts#readToolSchema",
    ],
    dictionary: [
      "event: ledger\n",
      "data: ",
      "\n\n",
      '"scopeRef":',
      '"payload":',
      '"type":"object"',
    ],
    seeds: [
      `event: ledger\ndata: ${ROW}\n\n`,
      ROW,
      '{"type":"object","properties":{"a":{"type":"string"}}}',
    ],
    run(input) {
      const rows = (parts: readonly Uint8Array[]) => {
        const reader = createLedgerSseReader();
        return attempt(() => [...parts.flatMap((part) => reader.push(part)), ...reader.end()]);
      };
      const whole = rows([input]);
      const pieces = rows(cut(input));
      if (whole.ok && pieces.ok) holdEqual(pieces.value, whole.value, "the cuts change nothing");
      hold(whole.ok === pieces.ok, "the cuts change no outcome");
      const value = attempt(() => parseJson(input));
      if (!value.ok) return;
      attempt(() => decodeLedgerEvent(value.value));
      readToolSchema(value.value);
    },
  },
];
