const SHOWN_ID = /^evt_[^.]*\.\d+$/u;

/**
 * The `event_id` of what a client is shown under a receipt: an id made for its stream alone, and the place in it.
 *
 * A receipt says nothing of a run and has no number, but its `event_id` is signed. The first receipt of a stream is
 * that of `RUN_STARTED`, which names the run; those that follow share its id and count on from it. So an event that
 * is left out, moved, repeated or brought over from another run shows.
 */
export function streamReceiptId(stream: string, place: number): string {
  return `${stream}.${place}`;
}

/** Whether an id could be taken for one of ours: whoever could choose it would speak for a place in a stream. */
export function isStreamReceiptId(id: string): boolean {
  return SHOWN_ID.test(id);
}
