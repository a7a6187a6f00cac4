/** The CUSTOM event with the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/** The CUSTOM event with the receipt of the event after it: nothing may follow the end of a run, so that receipt comes first. */
export const RECEIPT_AHEAD_NAME = "countersign.receipt_ahead";

/** Whether a client would take a CUSTOM event with this name for a receipt. */
export function isReceiptName(name: string): boolean {
  return name === RECEIPT_NAME || name === RECEIPT_AHEAD_NAME;
}
