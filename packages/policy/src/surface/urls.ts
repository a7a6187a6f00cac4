/** `urls` of `ag_ui_surfaces` with its defaults. */
export type UrlSettings = {
  readonly schemes: ReadonlySet<string>;
  /** Hosts in lower case; undefined for any. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly allowsRelative: boolean;
  readonly allowsUnknown: boolean;
  readonly maxLength: number;
};

/**
 * The accepted form of a URL with a host. Programs normalize others differently: a user name, a
 * backslash, white space or a percent escape before the path can lead to another host than the one
 * that is read here.
 */
const WITH_HOST =
  /^(?<scheme>https?|wss?):\/\/(?<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?)(?:[/?#][^\s\\\p{C}]*)?$/iu;
const WITHOUT_HOST = /^(?<scheme>mailto|tel|sms):[^\s\\\p{C}/]+$/iu;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp)[;,][^\s\\\p{C}]*$/iu;
/** No scheme, and no start that a browser reads as a host. */
const RELATIVE = /^(?:\/(?![/\\])|[?#]|\.{1,2}\/|[\w~-][\w.~-]*(?=[/?#]|$))[^\s\\\p{C}]*$/u;

/** Why a URL may not be used; undefined when it may. */
export function refuseUrl(
  value: string,
  isExact: boolean,
  settings: UrlSettings,
): string | undefined {
  if (value.length > settings.maxLength) {
    return `a URL of more than ${settings.maxLength} characters`;
  }
  if (!isExact && !settings.allowsUnknown) return "a URL that is not known";
  const { scheme, host } = WITH_HOST.exec(value)?.groups ?? {};
  if (scheme !== undefined && host !== undefined) {
    const name = scheme.toLowerCase();
    if (!settings.schemes.has(name)) return `a URL with the scheme "${name}"`;
    return allowsHost(settings.hosts, host)
      ? undefined
      : `a URL of the host "${host.toLowerCase().slice(0, 80)}"`;
  }
  const plain =
    WITHOUT_HOST.exec(value)?.groups?.["scheme"] ?? (PICTURE.test(value) ? "data" : undefined);
  if (plain !== undefined) {
    const name = plain.toLowerCase();
    return settings.schemes.has(name) ? undefined : `a URL with the scheme "${name}"`;
  }
  if (RELATIVE.test(value)) return settings.allowsRelative ? undefined : "a URL without a host";
  return "a URL that runs code, hides where it leads, or has an unknown scheme";
}

/** A name covers itself alone, as in `ag_ui_content.image_hosts`. */
function allowsHost(hosts: ReadonlySet<string> | undefined, host: string): boolean {
  return hosts === undefined || hosts.has(host.toLowerCase());
}

/** A domain of a Content-Security-Policy, without anything that could end its directive. */
const DOMAIN =
  /^(?:(?<scheme>https|wss):\/\/)?(?<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?)\/?$/iu;

/**
 * Whether an app may declare a domain. A wildcard, a quote, a separator or an escape is refused
 * whatever the list says: it would add sources or directives to the policy of the page.
 */
export function allowsDomain(hosts: ReadonlySet<string> | undefined, domain: string): boolean {
  const host = DOMAIN.exec(domain)?.groups?.["host"];
  return host !== undefined && allowsHost(hosts, host);
}
