const SHOWN_ID = /^evt_[^.]*\.\d+$/u;

/**
 * The `event_id` in the receipt of a delivered event: a random id of its stream, and the event's place in it.
 *
 * A receipt names no run and has no number, but its `event_id` is signed. The first receipt of a stream is that of `RUN_STARTED`, which
 * names the run; later receipts have the same id and the next numbers. So a client detects an event that was left out, moved, repeated or
 * taken from another run.
 */
export function streamReceiptId(stream: string, place: number): string {
  return `${stream}.${place}`;
}

/** Whether an id has the form of a stream receipt id: an agent that could choose one would claim a place in a stream. */
export function isStreamReceiptId(id: string): boolean {
  return SHOWN_ID.test(id);
}
