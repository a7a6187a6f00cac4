/** The evidence of one run, inside its report. */
export type ReportData = {
  readonly run: string;
  readonly session: string;
  readonly principal: string;
  readonly created_at: string;
  /** The key that the gateway presented. */
  readonly log_key: string;
  /** The number of entries of the run; the report may have fewer. */
  readonly total: number;
  readonly entries: readonly {
    /** The exact text that was hashed. */
    readonly text: string;
    /** C2SP tlog-proof with its checkpoint. */
    readonly proof: string;
    /** The event, if the gateway kept it. */
    readonly payload?: unknown;
  }[];
};

/** The id of the element with the data. */
export const DATA_ID = "evidence";
