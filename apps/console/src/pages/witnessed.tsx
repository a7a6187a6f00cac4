import type { ReactNode } from "react";
import type { Status, Witnesses } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";

/** Whether witnesses cosigned a checkpoint with an entry; nothing where the log has no witnesses. */
export function Witnessed({ seq }: { readonly seq: number }): ReactNode {
  const { data } = useResource<Status>("/v1/status", 10_000);
  const witnesses = data?.log.witnesses;
  if (witnesses === undefined) return null;
  return (
    <section className="card" aria-labelledby="witnessed">
      <h2 id="witnessed">Witnesses</h2>
      <p>{sentenceOf(seq, witnesses)}</p>
    </section>
  );
}

function sentenceOf(seq: number, { newest, list, threshold }: Witnesses): ReactNode {
  if (newest === undefined || seq >= newest.size) {
    return "Not yet witnessed: no checkpoint with this entry was cosigned.";
  }
  return (
    <>
      Witnessed by {newest.names.length} of {list.length} (
      <Text value={newest.names.join(", ")} isWrapped />
      ): checkpoint of {newest.size.toLocaleString()} entries,{" "}
      <Time at={newest.cosigned_at} isFull />
      {newest.enough ? "." : `. The gateway asks for ${threshold}.`}
    </>
  );
}
