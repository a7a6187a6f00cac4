/** Characters of one token text, including its narrowings: Node's limit for all request headers. */
export const MAX_TOKEN_LENGTH = 16_384;

/** How often one token may be narrowed. Each link costs one signature check (130 µs). */
export const MAX_NARROWINGS = 8;

/** Scopes of one token. */
export const MAX_SCOPES = 256;

/** Characters of one scope. */
export const MAX_SCOPE_LENGTH = 256;

/** Characters of an issuer's, an agent's or a session's name. */
export const MAX_NAME_LENGTH = 256;

/** Characters of a principal's name: it contains the name of an issuer and a subject. */
export const MAX_PRINCIPAL_LENGTH = 2048;

/** UTF-8 bytes of a Chio token as canonical JSON; its delegation chain makes it longer than ours. */
export const MAX_CHIO_BYTES = 65_536;
