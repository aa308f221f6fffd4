"""A small S3 for tests: one bucket in memory, conditional writes, and signatures that are checked
from their specification alone. It can be made to misbehave by POST /_trouble with a JSON object.

    s3_front.py KEY_ID SECRET REGION BUCKET     prints its port
"""

import hashlib
import hmac
import json
import socket
import sys
import threading
import time
from base64 import b64encode
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit

KEY_ID, SECRET, REGION, BUCKET = sys.argv[1:5]
PAGE = 2  # so that every list has more than one
SMALLEST_PART = 5 << 20

lock = threading.Lock()
objects = {}  # key -> {"body", "meta", "etag", "at"}
uploads = {}  # id -> {"key", "meta", "parts", "at"}
trouble = {}  # what is to go wrong, and how often
counts = {}  # requests by what they were


def due(name):
    with lock:
        left = trouble.get(name, 0)
        trouble[name] = max(0, left - 1)
        return left > 0


def derived_key(date):
    key = b"AWS4" + SECRET.encode()
    for part in (date, REGION, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def signature(method, path, query, headers, signed):
    """The signature that a request should have."""
    pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in query)
    at = headers["x-amz-date"]
    canonical = "\n".join([
        method, quote(unquote(path), safe="/-_.~"), "&".join(f"{k}={v}" for k, v in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed),
        ";".join(signed), headers["x-amz-content-sha256"]])
    scope = f"{at[:8]}/{REGION}/s3/aws4_request"
    request_sum = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", at, scope, request_sum])
    return hmac.new(derived_key(at[:8]), text.encode(), hashlib.sha256).hexdigest()


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def iso(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))


def etag_of(body):
    return f'"{hashlib.md5(body).hexdigest()}"'


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate(time.time() + (3600 if trouble.get("clock") else 0), usegmt=True)

    def reply(self, status, body=b"", headers=None, length=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def check_signature(self, path, query, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        given = dict(part.strip().split("=", 1) for part in
                     headers.get("authorization", " ").split(" ", 1)[1].split(",") if "=" in part)
        if given.get("Credential", "").split("/")[0] != KEY_ID:
            raise Refused(403, "InvalidAccessKeyId")
        signed = given["SignedHeaders"].split(";")
        needed = {"host", "content-md5", "if-none-match", "range"} & headers.keys()
        needed |= {name for name in headers if name.startswith("x-amz-")}
        if trouble.get("clock"):
            raise Refused(403, "RequestTimeTooSkewed")
        needed |= {"x-amz-content-sha256", "x-amz-date"}
        if signed != sorted(signed) or not needed <= set(signed):
            raise Refused(403, "AccessDenied")
        if given["Signature"] != signature(self.command, path, query, headers, signed):
            raise Refused(403, "SignatureDoesNotMatch")
        if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch")
        md5 = b64encode(hashlib.md5(body).digest()).decode()
        if headers.get("content-md5", md5) != md5:
            raise Refused(400, "BadDigest")

    def handle_one(self):
        split = urlsplit(self.path)
        query = parse_qsl(split.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if split.path == "/_trouble":
            trouble.update(json.loads(body))
            return self.reply(200, json.dumps(counts).encode())
        if due("unavailable"):
            return self.reply(503, b"<Error><Code>SlowDown</Code></Error>")
        try:
            self.check_signature(split.path, query, body)
            bucket, _, key = unquote(split.path).lstrip("/").partition("/")
            if bucket != bucket.lower():
                raise Refused(400, "InvalidBucketName")
            if bucket != BUCKET:
                raise Refused(404, "NoSuchBucket")
            what = f"{self.command} {'object' if key else 'bucket'} {' '.join(k for k, _ in query)}"
            with lock:
                counts[what.strip()] = counts.get(what.strip(), 0) + 1
                answer = self.answer(key, dict(query), body)
            lost = "lost_end" if "POST object uploadId" in what else "lost_answer"
            if self.command in ("PUT", "POST") and due(lost):
                self.close_connection = True
                return self.connection.shutdown(socket.SHUT_RDWR)
            if self.command == "GET" and key and answer[0] in (200, 206) and due("cut"):
                self.reply(answer[0], answer[1][:len(answer[1]) // 2], answer[2], len(answer[1]))
                self.close_connection = True
                return None
            return self.reply(*answer)
        except Refused as refused:
            body = f"<Error><Code>{refused.code}</Code></Error>"
            return self.reply(refused.status, body.encode())

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def answer(self, key, query, body):
        if not key:
            return self.uploads(query) if "uploads" in query else self.list(query)
        if self.command == "POST":
            return self.complete(key, query, body) if "uploadId" in query else self.begin(key)
        if self.command == "PUT":
            return self.part(query, body) if "uploadId" in query else self.put(key, body)
        if self.command == "DELETE":
            if "uploadId" in query:
                return (204,) if uploads.pop(query["uploadId"], None) else self.no_upload()
            objects.pop(key, None)
            return (204,)
        return self.get(key)

    def no_upload(self):
        raise Refused(404, "NoSuchUpload")

    def meta(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        return {name: headers[name] for name in headers if name.startswith("x-amz-meta-")}

    def keep(self, key, entry):
        conditional = self.headers.get("If-None-Match") == "*" and not trouble.get("careless")
        if conditional and key in objects:
            raise Refused(412, "PreconditionFailed")
        objects[key] = {**entry, "at": time.time()}
        return 200, b"", {"ETag": entry["etag"]}

    def put(self, key, body):
        return self.keep(key, {"body": body, "meta": self.meta(), "etag": etag_of(body)})

    def begin(self, key):
        name = f"up/{len(uploads)}+{time.time_ns()}="  # with characters that have to be encoded
        uploads[name] = {"key": key, "meta": self.meta(), "parts": {}, "at": time.time()}
        return 200, f"<R><UploadId>{name}</UploadId></R>".encode()

    def part(self, query, body):
        upload = uploads.get(query["uploadId"]) or self.no_upload()
        upload["parts"][int(query["partNumber"])] = body
        return 200, b"", {"ETag": etag_of(body)}

    def complete(self, key, query, body):
        upload = uploads.get(query["uploadId"]) or self.no_upload()
        parts = [upload["parts"][n] for n in sorted(upload["parts"])]
        wanted = "".join(
            f"<Part><PartNumber>{i + 1}</PartNumber><ETag>{etag_of(p)}</ETag></Part>"
            for i, p in enumerate(parts))
        if body.decode() != f"<CompleteMultipartUpload>{wanted}</CompleteMultipartUpload>":
            raise Refused(400, "InvalidPart")
        if any(len(part) < SMALLEST_PART for part in parts[:-1]):
            raise Refused(400, "EntityTooSmall")
        sums = b"".join(hashlib.md5(part).digest() for part in parts)
        entry = {"body": b"".join(parts), "meta": upload["meta"],
                 "etag": f'"{hashlib.md5(sums).hexdigest()}-{len(parts)}"'}
        answer = self.keep(key, entry)
        del uploads[query["uploadId"]]
        return answer

    def get(self, key):
        if key not in objects:
            raise Refused(404, "NoSuchKey")
        entry = objects[key]
        if self.headers.get("If-Match", entry["etag"]) != entry["etag"]:
            raise Refused(412, "PreconditionFailed")
        body, status = entry["body"], 200
        if trouble.get("flip"):
            body = bytes([body[0] ^ 1]) + body[1:]
        if "Range" in self.headers:
            body, status = body[int(self.headers["Range"].removeprefix("bytes=").rstrip("-")):], 206
        if self.command == "HEAD":
            return status, b"", {**entry["meta"], "ETag": entry["etag"]}, len(body)
        return status, body, {**entry["meta"], "ETag": entry["etag"]}

    def list(self, query):
        after = query.get("continuation-token", "")
        keys = sorted(k for k in objects if k.startswith(query.get("prefix", "")) and k > after)
        page = keys[:PAGE]
        token = page[-1] if len(keys) > PAGE else ""
        more = f"<NextContinuationToken>{token}</NextContinuationToken>"
        contents = "".join(
            f"<Contents><Key>{k}</Key><LastModified>{iso(objects[k]['at'])}</LastModified>"
            f"<Size>{len(objects[k]['body'])}</Size></Contents>" for k in page)
        truncated = str(len(keys) > PAGE).lower()
        return 200, f"<L><IsTruncated>{truncated}</IsTruncated>{more}{contents}</L>".encode()

    def uploads(self, query):
        found = [(u["key"], name, u) for name, u in uploads.items()
                 if u["key"].startswith(query.get("prefix", ""))]
        after = (query.get("key-marker", ""), query.get("upload-id-marker", ""))
        found = [f for f in sorted(found, key=lambda f: f[:2]) if f[:2] > after]
        page = found[:PAGE]
        more = (f"<NextKeyMarker>{page[-1][0]}</NextKeyMarker>"
                f"<NextUploadIdMarker>{page[-1][1]}</NextUploadIdMarker>") if page else ""
        entries = "".join(
            f"<Upload><Key>{key}</Key><UploadId>{name}</UploadId>"
            f"<Initiated>{iso(u['at'])}</Initiated></Upload>" for key, name, u in page)
        truncated = str(len(found) > PAGE).lower()
        return 200, f"<L><IsTruncated>{truncated}</IsTruncated>{more}{entries}</L>".encode()


server = ThreadingHTTPServer(("127.0.0.1", 0), Front)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
