/** The copy of one stream that other gateways read. */
export type StreamCopy = {
  /** Whether everything that was sent to the client is stored, so that any gateway can resume the stream. */
  readonly isComplete: boolean;
  /** Stores what is new in the stream, soon; the caller does not wait. */
  update(): void;
  /** The stream has expired: removes the copy. */
  remove(): void;
};
