import { isBusy } from "@countersign/client";
import type { ReceiptCounts } from "@countersign/client";
import { RenderHint, useAgent } from "@countersign/react";
import type { FormEvent, ReactNode } from "react";
import { useEffect, useRef } from "react";
import { BarChart } from "./bar-chart.js";
import { ProblemCard } from "./problem-card.js";
import { Questions } from "./questions.js";

/** The page's components; a hint for any other is not displayed. */
const COMPONENTS = { BarChart };

/** The number of verified events; nothing where no receipts are expected. */
function SignedFor({ counts }: { counts: ReceiptCounts }): ReactNode {
  const unsigned = counts.refused + counts.missing;
  if (counts.verified + unsigned === 0) return null;
  return (
    <span className="signed" data-sound={unsigned === 0}>
      signed for: {counts.verified}
      {unsigned > 0 && `, not: ${unsigned}`}
    </span>
  );
}

export function Chat(): ReactNode {
  const agent = useAgent();
  const { status, messages, renderHints, notices, receipts, problem } = agent;
  const end = useRef<HTMLLIElement>(null);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    void end.current?.scrollIntoView({ block: "end" });
  }, [messages, status]);

  function ask(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text")).trim();
    // Enter sends a form without a button too.
    if (text === "" || isBusy(status)) return;
    form.reset();
    toBox();
    void agent.send(text);
  }

  /** Why a gateway kept something back behind a message, each reason once. */
  function reasonsAt(id: string): string[] {
    const here = notices.filter(({ afterMessageId }) => afterMessageId === id);
    return [...new Set(here.map(({ reason }) => reason ?? "it gave no reason"))];
  }

  /** The button that was pressed goes away; without this the keyboard would be left nowhere. */
  function toBox(): void {
    box.current?.focus();
  }

  function retry(): void {
    toBox();
    void agent.retry();
  }

  function stop(): void {
    toBox();
    agent.stop();
  }

  return (
    <main className="chat">
      <header>
        <h1>Chat with React</h1>
        <SignedFor counts={receipts} />
        <span className="status" role="status" data-status={status}>
          {status === "waiting" ? "waiting for you" : status}
        </span>
      </header>
      <ul className="messages" aria-live="polite">
        {messages.length === 0 && <li className="empty">Say hello to begin.</li>}
        {messages.map(({ id, role, content }) => [
          typeof content === "string" && content !== "" && (
            <li key={id} className={`message ${role}`}>
              {content}
            </li>
          ),
          renderHints
            .filter(({ afterMessageId }) => afterMessageId === id)
            .map((hint) => (
              <li key={hint.id}>
                <RenderHint hint={hint} components={COMPONENTS} />
              </li>
            )),
          reasonsAt(id).map((reason) => (
            <li key={`${id} ${reason}`} className="kept">
              Kept back by the gateway: {reason}
            </li>
          )),
        ])}
        {status === "waiting" && (
          <li>
            <Questions onAnswer={toBox} />
          </li>
        )}
        {problem !== undefined && (
          <li>
            <ProblemCard problem={problem} onRetry={retry} />
          </li>
        )}
        <li ref={end} />
      </ul>
      <form onSubmit={ask}>
        <input
          ref={box}
          name="text"
          aria-label="Message"
          placeholder="Message"
          autoComplete="off"
        />
        {isBusy(status) ? (
          <button type="button" onClick={stop} disabled={status === "stopping"}>
            Stop
          </button>
        ) : (
          <button disabled={status === "waiting"}>Send</button>
        )}
      </form>
    </main>
  );
}
