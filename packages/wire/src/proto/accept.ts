/** The media type of a protobuf event stream; it takes no parameters. */
export const PROTO_MEDIA_TYPE = "application/vnd.ag-ui.event+proto";

const RANK = new Map<string, number>([
  ["*/*", 1],
  ["application/*", 2],
  [PROTO_MEDIA_TYPE, 3],
]);
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** How an Accept header is read. */
export type AcceptsProtoOptions = {
  /**
   * Whether a wildcard range may select protobuf, as the encoder of AG-UI 1.0 does. Off by default:
   * `curl`, `fetch` and EventSource proxies send a wildcard and cannot read binary frames.
   */
  readonly wildcards?: boolean;
};

/**
 * Whether an Accept header admits a protobuf stream. The most specific range decides, its `q` must be
 * above zero, and a missing header means no. A range with other parameters, or with a `q` outside
 * the grammar of RFC 9110 12.4.2, is passed over.
 */
export function acceptsProto(
  acceptHeader: string | undefined,
  options: AcceptsProtoOptions = {},
): boolean {
  let best = options.wildcards === true ? 1 : 3;
  let quality = 0;
  for (const range of (acceptHeader ?? "").toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((piece) => piece.trim());
    const rank = RANK.get(type) ?? 0;
    const given = qualityOf(parameters);
    if (given === undefined || rank < best) continue;
    // Of two equal ranges the more willing one counts, whatever their order.
    quality = rank === best ? Math.max(quality, given) : given;
    best = rank;
  }
  return quality > 0;
}

function qualityOf(parameters: readonly string[]): number | undefined {
  if (parameters.length === 0) return 1;
  const [parameter = ""] = parameters;
  const [name, value = ""] = parameter.split("=").map((piece) => piece.trim());
  return name === "q" && QUALITY.test(value) ? Number(value) : undefined;
}
