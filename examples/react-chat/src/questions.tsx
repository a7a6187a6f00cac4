import { useAgent } from "@countersign/react";
import type { ReactNode } from "react";

/** Asks the person what the agent wants to know; all questions are answered together. */
export function Questions({ onAnswer }: { onAnswer: () => void }): ReactNode {
  const { interrupts, resume } = useAgent();
  const answer = (approved: boolean): void => {
    onAnswer();
    void resume(
      interrupts.map(({ id }) => ({
        interruptId: id,
        status: "resolved",
        payload: { approved },
      })),
    );
  };
  return (
    <section className="card" aria-label="Approval">
      {interrupts.map(({ id, message, reason }) => (
        <p key={id}>{message ?? reason}</p>
      ))}
      <div className="row">
        <button onClick={() => answer(true)}>Approve</button>
        <button className="plain" onClick={() => answer(false)}>
          Decline
        </button>
      </div>
    </section>
  );
}
