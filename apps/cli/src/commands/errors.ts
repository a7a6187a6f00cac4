import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The configuration file does not exist. */
    ERR_CLI_NO_CONFIG: { file: string };
    /** Nothing says which file of revocations the gateway reads. */
    ERR_CLI_NO_REVOCATIONS: { config: string };
    /** The name of an API key's holder would not fit into the file of keys. */
    ERR_CLI_KEY_NAME: Record<string, never>;
    /** An operator cannot be added, changed or removed. */
    ERR_CLI_OPERATOR: Record<string, never>;
    /** A directory has no witness, or lacks a part of it. */
    ERR_CLI_NO_WITNESS: { directory: string };
    /** A directory has a witness already. */
    ERR_CLI_WITNESS_EXISTS: { directory: string };
    /** A line of the accepted logs of a witness is not the vkey of a log. */
    ERR_CLI_WITNESS_LOGS: { file: string; line: number };
    /** The receipt store does not exist. */
    ERR_CLI_NO_STORE: { store: string };
    /** A time on the command line cannot be read. */
    ERR_CLI_TIME: { text: string };
    /** No such column can be counted by. */
    ERR_CLI_COLUMN: { column: string };
    /** The log has no such receipt. */
    ERR_CLI_NO_RECEIPT: { which: string };
    /** No payload of this entry can be shown. */
    ERR_CLI_NO_PAYLOAD: { seq: number };
    /** The log has no signed checkpoint yet. */
    ERR_CLI_NO_CHECKPOINT: Record<string, never>;
    /** A file named on the command line is not there. */
    ERR_CLI_NO_FILE: { file: string };
    /** A directory named on the command line is not an export. */
    ERR_CLI_NO_EXPORT: { directory: string };
    /** A proof was given with a file that is not a log entry. */
    ERR_CLI_NOT_ENTRY: { file: string };
    /** A proof cannot be checked without the log's key. */
    ERR_CLI_NO_LOG_KEY: Record<string, never>;
    /** A key history does not hold together. */
    ERR_CLI_KEY_HISTORY: { file: string };
    /** The gateway runs, and its receipt key cannot be replaced under it. */
    ERR_CLI_GATEWAY_RUNS: { store: string };
    /** The key directory has keys already. */
    ERR_CLI_KEYS_EXIST: { directory: string };
    /** Something that is neither a rule, nor a code, nor a receipt was to be explained. */
    ERR_CLI_NOTHING_TO_EXPLAIN: { name: string };
    /** The control plane of a gateway does not answer as it should. */
    ERR_CLI_CONTROL: { address: string; reason: string };
    /** No open run, or more than one, has the id. */
    ERR_CLI_NO_RUN: { run: string };
    /** The key directory has no keys yet. */
    ERR_CLI_NO_KEYS: { directory: string };
  }
}
