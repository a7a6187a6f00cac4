/** The style has no exports; importing it is enough. */
export type ChatStyle = never;
