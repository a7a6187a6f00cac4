import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Dialect, EmitterProfile } from "@countersign/wire/dialects";
import { createFindings } from "../check/findings.js";
import type { Findings } from "../check/findings.js";
import { createStreamCheck } from "../check/stream-check.js";
import type { StreamCheck } from "../check/stream-check.js";
import type { NetworkFacts } from "../probe/connect.js";
import { Phases } from "../probe/phase.js";
import type { Layer } from "../rules/rule.js";
import type { RuleId, SeverityOverride } from "../rules/table.js";
import { ByteCounter } from "./bytes.js";
import type { ByteFacts } from "./bytes.js";
import { checkInput } from "./input.js";
import { checkLayers, verdictOf } from "./report.js";
import type { CapabilityFacts, DoctorReport, ExchangeFacts } from "./report.js";
import { ArrivalCheck } from "./timing.js";
import { TimelineRecorder } from "./timeline.js";

/** Options of the checks of all transports. */
export type DoctorOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; a valid one is made when absent. */
  readonly input?: JsonValue;
  /** For the whole check; 60 seconds by default. */
  readonly timeoutMs?: number;
  readonly severities?: ReadonlyMap<RuleId, SeverityOverride>;
  /** The emitter profile: the deviations that it repairs are notes. `auto` by default, `strict` for clients without a gateway. */
  readonly profile?: EmitterProfile;
  /** The dialect of the agent at its gateway: the translations from it are notes. Findings of their own by default. */
  readonly dialect?: Dialect | "auto";
  /** Sends GET instead of POST, as an EventSource does. */
  readonly get?: boolean;
  /** Asks for protobuf. */
  readonly proto?: boolean;
  /** Whether to ask first, with OPTIONS, what a page of another origin may do; yes by default. */
  readonly preflight?: boolean;
  /** Whether to ask what the agent says it can do, with a GET of its own; yes by default. */
  readonly capabilities?: boolean;
  /** The origin of a page that must be able to call the agent. */
  readonly origin?: string;
  /** Offers the bearer token in the WebSocket sub-protocol, as browsers must. */
  readonly subprotocol?: boolean;
  readonly insecure?: boolean;
  /** Further trusted roots, PEM. */
  readonly ca?: string;
  /** Silence that is worth a finding; 15 seconds by default. */
  readonly silenceMs?: number;
  /** How long a body may stay open after its last run; 5 seconds by default. */
  readonly lingerMs?: number;
};

/** The state of one check over all layers. */
export class Session {
  readonly findings: Findings;
  readonly phases: Phases;
  readonly options: DoctorOptions;
  readonly check: StreamCheck;
  readonly input: JsonValue;
  readonly arrivals: ArrivalCheck;
  readonly timeoutMs: number;
  reached: Layer = 1;
  network: NetworkFacts | undefined;
  exchange: ExchangeFacts | undefined;
  capabilities: CapabilityFacts | undefined;
  /** The last event ended a run. */
  finished = false;
  events = 0;
  byteFacts: ByteFacts;
  readonly #timeline = new TimelineRecorder();
  readonly #ledger = new ByteCounter();
  readonly #startedAt = new Date();

  constructor(input: JsonValue, options: DoctorOptions) {
    const began = performance.now();
    this.options = options;
    this.timeoutMs = options.timeoutMs ?? 60_000;
    this.findings = createFindings(options.severities);
    this.phases = new Phases(() => performance.now() - began);
    this.input = input;
    this.arrivals = new ArrivalCheck(options.silenceMs);
    this.byteFacts = {
      input: Buffer.byteLength(JSON.stringify(input)),
      requestHeaders: 0,
      preflight: 0,
      upgrade: 0,
    };
    // An EventSource sends no input, so its answer cannot be compared with one.
    const asked: RunAgentInput | undefined =
      options.get === true ? undefined : checkInput(input, this.findings);
    this.check = createStreamCheck({
      findings: this.findings,
      ...(asked === undefined ? {} : { input: asked }),
      profile: options.profile ?? "auto",
      ...(options.dialect === undefined ? {} : { dialect: options.dialect }),
      onEvent: (event) => {
        const atMs = this.phases.now();
        this.events++;
        this.finished = event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
        this.#timeline.add(event, atMs);
        this.#ledger.add(event.bytes);
        this.arrivals.event(event, atMs);
      },
    });
  }

  report(target: string): DoctorReport {
    const findings = this.findings.list();
    const { network, exchange, capabilities } = this;
    return {
      target,
      startedAt: this.#startedAt.toISOString(),
      durationMs: Math.round(this.phases.now()),
      verdict: verdictOf(findings, this.events),
      layers: checkLayers(findings, this.reached),
      findings,
      skipped: [],
      ...(network === undefined ? {} : { network }),
      ...(exchange === undefined ? {} : { exchange }),
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(this.reached === 3 ? { stream: this.check.summary() } : {}),
      timeline: this.#timeline.timeline(this.phases),
      bytes: this.#ledger.rows(this.byteFacts),
    };
  }
}
