#!/usr/bin/env python3
"""Verifies transparent statements, from the RFCs alone, with Python's standard library.

It shares no code with Countersign. What it implements:
  CBOR, deterministic encoding      RFC 8949, section 4.2.1
  COSE_Sign1, COSE_Key, thumbprint  RFC 9052, RFC 9053, RFC 9679
  COSE receipts, RFC9162_SHA256     RFC 9942; Merkle path of RFC 9162, section 2.1.3.2
  signed and transparent statements RFC 9943
  Ed25519                           RFC 8032, section 5.1.7
  DSSE envelopes of a run           DSSE protocol v1, in-toto Statement v1
  the receipt inside of an entry    docs/receipts/format.md, docs/receipts/batch-signature.md

  python3 verify_statement.py --keys keys.cbor statements/17.scitt
  python3 verify_statement.py --key ed25519:HEX --log-key 'name+id+key' statements/*.scitt
  python3 verify_statement.py --log-key 'name+id+key' --run run.intoto.json statements/*.scitt

Exit code: 0 all hold, 1 one does not, 2 could not be read.
"""

import argparse
import base64
import hashlib
import json
import re
import sys

# ---- CBOR -----------------------------------------------------------------------------------------------------------

MAX_DEPTH = 8
MAX_BYTES = 32 * 1024 * 1024


class Refused(Exception):
    """The input does not hold, and why."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


class Tag:
    def __init__(self, number, value):
        self.number, self.value = number, value


class Reader:
    """Reads one item of deterministic CBOR; there is one encoding of each item, and any other is refused."""

    def __init__(self, data):
        need(len(data) <= MAX_BYTES, "too large")
        self.data, self.at = data, 0

    def take(self, count):
        need(count <= len(self.data) - self.at, "CBOR ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def head(self):
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info
        need(info < 28, "indefinite length or reserved head")
        size = 1 << (info - 24)
        value = int.from_bytes(self.take(size), "big")
        need(value >= (24 if size == 1 else 1 << (4 * size)), "a number is longer than it must be")
        return major, value

    def item(self, depth=0):
        need(depth <= MAX_DEPTH, "nested too deep")
        start = self.at
        major, value = self.head()
        if major == 0:
            return value
        if major == 1:
            return -1 - value
        if major == 2:
            return self.take(value)
        if major == 3:
            return self.take(value).decode("utf-8")
        if major == 4:
            need(value <= len(self.data) - self.at, "CBOR ends early")
            return [self.item(depth + 1) for _ in range(value)]
        if major == 5:
            need(value <= len(self.data) - self.at, "CBOR ends early")
            result, before = {}, b""
            for _ in range(value):
                begin = self.at
                key = self.item(depth + 1)
                encoded = self.data[begin : self.at]
                need(isinstance(key, (int, str)), "a map key is neither number nor text")
                need(encoded > before, "map keys are out of order or come twice")
                before, result[key] = encoded, self.item(depth + 1)
            return result
        if major == 6:
            return Tag(value, self.item(depth + 1))
        need(self.data[start] == 0xF6, "a simple value other than null, or a float")
        return None


def cbor(data):
    reader = Reader(data)
    try:
        value = reader.item()
    except UnicodeDecodeError:
        raise Refused("a text is not UTF-8") from None
    need(reader.at == len(data), "bytes after the item")
    return value


def head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    size = next(n for n in (1, 2, 4, 8) if value < 1 << (8 * n))
    return bytes([major << 5 | 24 + size.bit_length() - 1]) + value.to_bytes(size, "big")


def sig_structure(protected, payload):
    """RFC 9052, section 4.4."""
    parts = [head(3, 10) + b"Signature1"] + [head(2, len(b)) + b for b in (protected, b"", payload)]
    return head(4, 4) + b"".join(parts)


# ---- Ed25519 --------------------------------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def point_add(one, two):
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % P, (one[1] + one[0]) * (two[1] + two[0]) % P
    c, d = 2 * one[3] * two[3] * D % P, 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_equal(one, two):
    return (one[0] * two[2] - two[0] * one[2]) % P == 0 and (one[1] * two[2] - two[1] * one[2]) % P == 0


def decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P != 0 or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519(public, message, signature):
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r, s = decompress(public), decompress(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    # A key of small order accepts signatures that nobody made.
    if point_equal(point_mul(8, a), (0, 1, 1, 0)):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    return point_equal(point_mul(s, BASE), point_add(r, point_mul(k, a)))


# ---- keys -----------------------------------------------------------------------------------------------------------


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def thumbprint(public):
    """RFC 9679 over {1: 1, -1: 6, -2: x}, in deterministic order."""
    return sha256(b"\xa3\x01\x01\x20\x06\x21\x58\x20", public)


def keys_of_set(data):
    """A COSE_KeySet of ours: the log's key, then the receipt keys."""
    keys = cbor(data)
    need(isinstance(keys, list) and keys, "not a COSE_KeySet")
    for key in keys:
        need(isinstance(key, dict) and set(key) == {1, 2, 3, -1, -2}, "a key has other members")
        need(key[1] == 1 and key[3] == -8 and key[-1] == 6, "a key is not of Ed25519")
        need(isinstance(key[-2], bytes) and key[2] == thumbprint(key[-2]), "a key id is not the thumbprint")
    return keys[0][-2], [key[-2] for key in keys[1:]]


def vkey(text):
    name, number, encoded = text.strip().split("+", 2)
    material = base64.b64decode(encoded, validate=True)
    need(len(material) == 33 and material[0] == 1, "not an Ed25519 vkey")
    need(sha256(name.encode() + b"\n", material)[:4].hex() == number, "the key id is not that of this name and key")
    return name, material[1:]


# ---- statements -----------------------------------------------------------------------------------------------------


def sign1(data, protected_expected):
    tag = cbor(data)
    need(isinstance(tag, Tag) and tag.number == 18, "not a tagged COSE_Sign1")
    parts = tag.value
    need(isinstance(parts, list) and len(parts) == 4, "not four elements")
    need(isinstance(parts[0], bytes) and isinstance(parts[1], dict), "headers")
    need(isinstance(parts[3], bytes) and len(parts[3]) == 64, "the signature does not have 64 bytes")
    header = cbor(parts[0])
    need(isinstance(header, dict) and 2 not in header, "an unknown critical parameter")
    need(set(header) == {1, 4, 15, 16} | set(protected_expected), "other parameters in the protected header")
    for label, value in protected_expected.items():
        need(header[label] == value, f"protected parameter {label}")
    need(header[1] == -8, "the algorithm is not EdDSA")
    claims = header[15]
    need(isinstance(claims, dict) and set(claims) == {1, 2}, "claims")
    need(all(isinstance(claim, str) for claim in claims.values()), "claims")
    return parts, header, claims


def root_of_path(leaf, index, size, path):
    """RFC 9162, section 2.1.3.2."""
    need(0 <= index < size, "the index is not below the size")
    fn, sn, r = index, size - 1, leaf
    for p in path:
        need(isinstance(p, bytes) and len(p) == 32 and sn != 0, "the path does not fit")
        if fn & 1 or fn == sn:
            r = sha256(b"\x01", p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = sha256(b"\x01", r, p)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0, "the path is too short")
    return r


def read_json(data):
    """Reads canonical JSON (RFC 8785): one value has one spelling, and no member comes twice."""
    value = json.loads(data.decode("utf-8"))
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    need(written.encode() == data, "not canonical JSON")
    return value


def is_text(value):
    return isinstance(value, str)


def is_count(value):
    return type(value) is int and 0 <= value < 1 << 53


def is_hash(value):
    return is_text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None


def is_one_of(*names):
    return lambda value: is_text(value) and value in names


def members(value, required, optional):
    need(isinstance(value, dict), "not an object")
    need(set(required) <= set(value) <= set(required) | set(optional), "other members")
    for name, item in value.items():
        need((required.get(name) or optional[name])(item), f"member {name}")
    return True


def is_event_type(value):
    plain = ("text_stream", "state_update", "navigation", "lifecycle", "form_action", "notification", "error")
    return value in plain if is_text(value) else members(value, {"custom": is_text}, {})


def is_target(value):
    return members(value, {"component_type": is_text}, {"component_id": is_text})


def is_rule_list(value):
    return isinstance(value, list) and 0 < len(value) <= 16 and all(is_text(rule) for rule in value)


def is_receipt(value):
    classes = ("display", "alert", "mutate", "create", "destroy", "navigate", "submit")
    texts = ("id", "event_id", "agent_id", "capability_id", "kernel_key", "signature")
    required = {
        **{name: is_text for name in texts},
        "timestamp": is_count,
        "event_type": is_event_type,
        "classification": is_one_of(*classes),
        "transport": is_one_of("sse", "websocket"),
        "allowed": lambda allowed: isinstance(allowed, bool),
        "payload_hash": is_hash,
    }
    members(value, required, {"session_id": is_text, "target": is_target, "denial_reason": is_text})
    need(value["allowed"] == ("denial_reason" not in value), "a reason exactly when the event was blocked")
    return True


def read_entry(data):
    """An entry of the log; docs/receipts/format.md."""
    entry = read_json(data)
    required = {
        "seq": is_count,
        "received_at": is_count,
        "direction": is_one_of("outbound", "inbound"),
        "mode": is_one_of("enforce", "observe"),
        "policy_hash": is_text,
        "receipt": is_receipt,
    }
    texts = ("client_address", "path", "principal", "rule", "run_id", "thread_id", "tool")
    optional = {name: is_text for name in texts}
    members(entry, required, {**optional, "emitted_hash": is_hash, "further_rules": is_rule_list})
    return entry


def subject_of(entry):
    """The run of the entry, or the event; percent-encoded like a URI component."""
    from urllib.parse import quote

    kind, text = ("run", entry["run_id"]) if "run_id" in entry else ("event", entry["receipt"]["event_id"])
    return f"{kind}/{quote(text, safe='!*()' + chr(39))}"


def verify_statement(data, issuers, log):
    """Returns the index, tree size, root and entry of a transparent statement that holds."""
    kind = {3: "application/vnd.countersign.entry+json", 16: "application/scitt-statement+cose"}
    (protected, unprotected, payload, signature), header, claims = sign1(data, kind)
    need(isinstance(payload, bytes), "the payload is detached")
    issuer = next((key for key in issuers if thumbprint(key) == header[4]), None)
    need(issuer is not None, "the issuer's key is unknown")
    need(ed25519(issuer, sig_structure(protected, payload), signature), "the issuer's signature is not valid")

    need(set(unprotected) == {394} and isinstance(unprotected[394], list), "not one receipt")
    need(len(unprotected[394]) == 1 and isinstance(unprotected[394][0], bytes), "not one receipt")
    kind = {16: "application/scitt-receipt+cose", 395: 1}
    (protected, unprotected, root, signature), header, receipt_claims = sign1(unprotected[394][0], kind)
    need(root is None, "the root is not detached")
    proofs = unprotected.get(396)
    need(set(unprotected) == {396} and isinstance(proofs, dict) and set(proofs) == {-1}, "proofs")
    need(isinstance(proofs[-1], list) and len(proofs[-1]) == 1 and isinstance(proofs[-1][0], bytes), "proofs")
    proof = cbor(proofs[-1][0])
    need(isinstance(proof, list) and len(proof) == 3 and isinstance(proof[2], list), "inclusion proof")
    size, index, path = proof
    need(isinstance(size, int) and isinstance(index, int), "inclusion proof")
    root = root_of_path(sha256(b"\x00", payload), index, size, path)
    name, public = log
    need(thumbprint(public) == header[4], "the log's key is unknown")
    need(ed25519(public, sig_structure(protected, root), signature), "the log did not sign this root")

    need(name is None or receipt_claims[1] == name, "the log has another name")
    need(receipt_claims[2] == f"tree/{size}", "the log signed another size")
    need(claims[1] == receipt_claims[1], "statement and receipt have different issuers")
    entry = read_entry(payload)
    need(entry["seq"] == index, "the entry has another number")
    need(claims[2] == subject_of(entry), "the subject is not that of the entry")
    verify_receipt(entry, issuers)
    return index, size, root, entry


def from_hex(text):
    """The bytes of hex, which may have the name of the algorithm before it."""
    need(re.fullmatch("(?:ed25519:)?(?:[0-9a-fA-F]{2})+", text) is not None, "not a key or a signature in hex")
    return bytes.fromhex(text.removeprefix("ed25519:"))


def verify_receipt(entry, issuers):
    """The signature that the gateway made when the event passed; docs/receipts/format.md and batch-signature.md."""
    receipt = dict(entry["receipt"])
    signature, key = receipt.pop("signature"), from_hex(receipt["kernel_key"])
    need(key in issuers, "the key of the receipt in the entry is unknown")
    body = json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    if not signature.startswith("ed25519-batch:"):
        need(ed25519(key, body, from_hex(signature)), "the signature of the receipt in the entry is not valid")
        return
    need(receipt["allowed"] is True, "a blocked event shares a signature")
    grammar = "ed25519-batch:(0|[1-9][0-9]{0,4})/([1-9][0-9]{0,4}):([0-9a-f]{128}):((?:[A-Za-z0-9_-]{43})*)"
    parts = re.fullmatch(grammar, signature)
    need(parts is not None and int(parts[2]) <= 65536, "the form of the shared signature")
    index, size, signed, path = int(parts[1]), int(parts[2]), parts[3], parts[4]
    encoded = [path[at : at + 43] for at in range(0, len(path), 43)]
    hashes = [base64.urlsafe_b64decode(one + "=") for one in encoded]
    spelled = [base64.urlsafe_b64encode(one).decode().rstrip("=") for one in hashes]
    need(spelled == encoded, "a hash of the shared signature has two spellings")
    root = root_of_path(sha256(b"\x00", body), index, size, hashes)
    message = b"countersign.receipt-batch.v1\0" + size.to_bytes(4, "big") + root
    need(ed25519(key, message, bytes.fromhex(signed)), "the shared signature of the receipt is not valid")


# ---- a run ----------------------------------------------------------------------------------------------------------


def verify_run(text, log, proven):
    """A DSSE envelope about a run; `proven` are payloads of statements that hold with their trees, or empty."""
    envelope = read_json(text.rstrip())
    need(set(envelope) == {"payload", "payloadType", "signatures"}, "other members in the envelope")
    need(envelope["payloadType"] == "application/vnd.in-toto+json", "payload type")
    body = base64.b64decode(envelope["payload"], validate=True)
    need(base64.b64encode(body).decode() == envelope["payload"], "the payload has two spellings")
    kind = envelope["payloadType"].encode()
    pae = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(body)).encode(), body])
    (signature,) = envelope["signatures"]
    need(set(signature) == {"keyid", "sig"}, "other members in the signature")
    need(signature["keyid"] == thumbprint(log[1]).hex(), "the key id is not that of the log's key")
    sig = base64.b64decode(signature["sig"], validate=True)
    need(base64.b64encode(sig).decode() == signature["sig"], "the signature has two spellings")
    need(ed25519(log[1], pae, sig), "the log's signature is not valid")

    statement = read_json(body)
    members(statement, dict.fromkeys(("_type", "predicateType", "subject", "predicate"), is_anything), {})
    need(statement["_type"] == "https://in-toto.io/Statement/v1", "not an in-toto statement")
    predicate_type = "https://countersign.example/docs/receipts/run-statement#v1"
    need(statement["predicateType"] == predicate_type, "another predicate")
    (subject,) = statement["subject"]
    predicate = statement["predicate"]
    members(subject, {"name": is_text, "digest": is_object}, {})
    members(subject["digest"], {"sha256": is_hash}, {})
    required = {"log": is_text, "policies": is_text_list}
    members(predicate, {**required, **dict.fromkeys(("run", "tree", "entries", "decisions"), is_object)}, {})
    members(predicate["run"], {"run_id": is_text}, {"thread_id": is_text})
    members(predicate["tree"], {"first": is_count, "size": is_count, "root": is_hash}, {})
    members(predicate["entries"], dict.fromkeys(("count", "first", "last"), is_count), {})
    members(predicate["decisions"], dict.fromkeys(("allowed", "blocked", "would_block"), is_count), {})
    need(log[0] is None or predicate["log"] == log[0], "the statement is of another log")
    need(subject["name"] == subject_of(predicate["run"]), "the subject is not the run")
    if proven:
        compare_run(subject["digest"]["sha256"], predicate, proven)
    return subject, predicate


def is_anything(_):
    return True


def is_object(value):
    return isinstance(value, dict)


def is_text_list(value):
    return isinstance(value, list) and all(is_text(one) for one in value)


def compare_run(transcript, predicate, proven):
    """Compares what the statement says about a run with the entries of the run that were proven."""
    tree = predicate["tree"]
    mine = {}
    for payload, size, root in proven:
        need(size != tree["size"] or root.hex() == tree["root"], "the statement is about another tree")
        entry = json.loads(payload)
        if belongs(entry, predicate) and tree["first"] <= entry["seq"] < tree["size"]:
            mine[entry["seq"]] = payload
    order = sorted(mine)
    need(len(order) == predicate["entries"]["count"], f"it is about {predicate['entries']['count']} entries, and the statements have {len(order)} of them")
    hashed = hashlib.sha256(b"".join(mine[seq] + b"\n" for seq in order)).hexdigest()
    need(hashed == transcript, "the entries hash to another transcript")
    entries = [json.loads(mine[seq]) for seq in order]
    allowed = [entry for entry in entries if entry["receipt"]["allowed"]]
    said = {
        "allowed": len(allowed),
        "blocked": len(entries) - len(allowed),
        "would_block": sum("rule" in entry for entry in allowed),
    }
    need(predicate["entries"] == {"count": len(order), "first": order[0], "last": order[-1]}, "other entries")
    need(predicate["decisions"] == said, "other decisions")
    need(predicate["policies"] == sorted({entry["policy_hash"] for entry in entries}), "other policies")


def belongs(entry, predicate):
    run = predicate["run"]
    return entry.get("run_id") == run["run_id"] and entry.get("thread_id") == run.get("thread_id")


# ---- command --------------------------------------------------------------------------------------------------------


# What hostile bytes can raise; OSError is about the file and not in the list.
REASONS = (Refused, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def verify_file(path, issuers, log):
    """Verifies one statement and prints its line; the result is its payload, and size and root of its tree."""
    data = open(path, "rb").read()
    index, size, root, entry = verify_statement(data, issuers, log)
    decision = "allowed" if entry["receipt"]["allowed"] else "blocked"
    print(f"held    {path}: entry {index} of {size}, {decision}, root {root.hex()[:16]}…")
    return cbor(data).value[2], size, root


def key_of(text):
    """A receipt key, as `countersign keys show` prints it."""
    key = bytes.fromhex(text.removeprefix("ed25519:"))
    need(len(key) == 32, "not a key of 32 bytes")
    return key


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", help="COSE_KeySet of the export (keys.cbor)")
    parser.add_argument("--key", action="append", default=[], help="receipt key, ed25519:HEX (repeatable)")
    parser.add_argument("--log-key", help="vkey of the log")
    parser.add_argument("--run", help="in-toto statement about a run")
    parser.add_argument("statements", nargs="*")
    options = parser.parse_args()
    try:
        log, issuers = None, [key_of(key) for key in options.key]
    except (Refused, ValueError):
        parser.error("--key: write ed25519: and 64 hexadecimal digits")
    if options.keys is not None:
        public, presented = keys_of_set(open(options.keys, "rb").read())
        log, issuers = (None, public), issuers or presented
    if options.log_key is not None:
        try:
            log = vkey(options.log_key)
        except (Refused, ValueError) as error:
            parser.error(f"--log-key: {error}")
    if log is None:
        parser.error("the log's key is needed: --keys or --log-key")
    if not options.statements and options.run is None:
        parser.error("nothing to verify: name statements (*.scitt), or a statement about a run with --run")
    proven, refused = [], 0
    for path in options.statements:
        try:
            proven.append(verify_file(path, issuers, log))
        except REASONS as error:
            print(f"FAILED  {path}: {error}", file=sys.stderr)
            refused += 1
    if refused:
        sys.exit(1)
    if options.run is not None:
        try:
            subject, predicate = verify_run(open(options.run, "rb").read(), log, proven)
        except REASONS as error:
            print(f"FAILED  {options.run}: {error}", file=sys.stderr)
            sys.exit(1)
        count = predicate["entries"]["count"]
        print(f"held    {options.run}: {subject['name']}, {count} entries, transcript {subject['digest']['sha256']}")
        if not proven:
            print("skipped the entries were not hashed: name the statements of the run, too")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        print(f"cannot read: {error}", file=sys.stderr)
        sys.exit(2)
    except REASONS as error:
        print(f"FAILED  {error}", file=sys.stderr)
        sys.exit(1)
