/** Hosts this bank links to. */
const OWN_HOSTS = new Set(["northwind.example", "www.northwind.example"]);

// Zero-width and tag characters, bidirectional controls, the byte order mark.
const INVISIBLE =
  /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/gu;
const MARKUP = /<\/?[a-z!][^>]*>?/giu;
const IMAGE = /!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?/gu;
const ADDRESS = /\b(?:javascript|data|vbscript):\S*|\bhttps?:\/\/[^\s)"'<>]+/giu;

// Card numbers, account numbers (IBAN), and keys.
const SECRET = /\b\d{4}(?:[ -]?\d{4}){3}\b|\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b|\bsk-[\w-]{8,}/gu;

/** The text of a person, without invisible characters. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, "");
}

/** Text that is safe to show: no secrets, no markup, no images, no foreign addresses, no control characters. */
export function safeText(text: string): string {
  return visibleText(text)
    .replace(SECRET, "[removed]")
    .replace(IMAGE, "[image removed]")
    .replace(MARKUP, "[markup removed]")
    .replace(ADDRESS, (address) => (isOwn(address) ? address : "[link removed]"))
    .replace(/\p{Cc}/gu, (control) => (control === "\n" ? control : ""));
}

function isOwn(address: string): boolean {
  try {
    const { protocol, hostname, username } = new URL(address);
    return protocol === "https:" && username === "" && OWN_HOSTS.has(hostname);
  } catch {
    return false;
  }
}

/** An origin that a page may add to its content security policy: nothing in it ends the directive or widens it. */
export function isPlainOrigin(value: string): boolean {
  return /^https:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(value);
}
