/** The CUSTOM event that carries the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/** The same about the event behind it: nothing may follow the end of a run, so its receipt comes first. */
export const RECEIPT_AHEAD_NAME = "countersign.receipt_ahead";

/** Whether a client would take a CUSTOM event of this name for a receipt. */
export function isReceiptName(name: string): boolean {
  return name === RECEIPT_NAME || name === RECEIPT_AHEAD_NAME;
}
