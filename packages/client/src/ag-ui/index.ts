import { AbstractAgent } from "@ag-ui/client";
import type { AgentConfig, BaseEvent, RunAgentInput as OfficialInput } from "@ag-ui/client";
import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { Observable } from "rxjs";
import "../base/errors.js";
import { DEFAULT_BACK_OFF } from "../store/back-off.js";
import { SYSTEM_CLOCK } from "../store/clock.js";
import { randomId } from "../base/ids.js";
import { driveRun } from "../store/run-driver.js";
import type { ReadOptions } from "../stream/options.js";
import { createPipeline } from "../stream/pipeline.js";
import type { Transport } from "../transport/transport.js";

/** Options of {@link TransportAgent}. */
export type TransportAgentConfig = AgentConfig &
  ReadOptions & {
    readonly transport: Transport;
    /** Milliseconds of silence after which a stream counts as broken; 5 minutes by default. */
    readonly idleMs?: number;
  };

/**
 * An agent for `@ag-ui/client`, CopilotKit and whatever else takes an `AbstractAgent`, over any of our
 * transports.
 *
 * What reaches the official pipeline was parsed strictly and checked here, and a stream that ends before
 * its run is an error there, not a success.
 */
export class TransportAgent extends AbstractAgent {
  // Not private names: the official `clone` makes the copy without calling this constructor.
  private config: TransportAgentConfig;
  private running: AbortController | undefined;

  constructor(config: TransportAgentConfig) {
    super(config);
    if (typeof config.transport?.open !== "function") {
      throw new TypeError("an agent needs a transport");
    }
    this.config = config;
  }

  /** Starts one run; unsubscribing hangs up. */
  override run(official: OfficialInput): Observable<BaseEvent> {
    const input = official as unknown as RunAgentInput;
    const { transport, dialect, idleMs = 300_000 } = this.config;
    return new Observable((subscriber) => {
      const controller = new AbortController();
      this.running = controller;
      let isOver = false;
      // A server with resumable streams does not know that this client will not resume.
      const stop = (): void => {
        if (!isOver && transport.resumable) void askToStop(transport, input);
      };
      controller.signal.addEventListener("abort", stop, { once: true });
      driveRun(
        {
          transport,
          input,
          body: dialect?.body(input) ?? (input as unknown as JsonObject),
          createPipeline: () => createPipeline(input, this.config, randomId),
          backOff: DEFAULT_BACK_OFF,
          clock: SYSTEM_CLOCK,
          random: Math.random,
          idleMs,
          lingerMs: 1000,
          signal: controller.signal,
        },
        {
          status: () => {},
          over: () => {
            isOver = true;
          },
          events: (events) => {
            for (const event of events) subscriber.next(event as unknown as BaseEvent);
          },
          // Events that were handed on cannot be taken back.
          restart: () => {
            throw new CountersignError("ERR_CLIENT_TRUNCATED", "the server began the run anew", {
              events: 0,
            });
          },
        },
      ).then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      return () => controller.abort();
    });
  }

  /** Hangs up. */
  override abortRun(): void {
    this.running?.abort();
    super.abortRun();
  }

  /** An agent of the same kind with copies of the conversation and state, as CopilotKit makes per thread. */
  override clone(): TransportAgent {
    const copy = super.clone() as TransportAgent;
    copy.config = this.config;
    return copy;
  }
}

/** Whether it could be asked or not, this side has hung up. */
async function askToStop(transport: Transport, input: RunAgentInput): Promise<void> {
  try {
    await transport.stop?.(input);
  } catch {
    // The server gives up by itself after a while.
  }
}
