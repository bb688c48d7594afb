"""What went wrong between us and an LLM server, in sentences a person can act on, without secrets in them."""

from __future__ import annotations

import base64
import json
import re
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

import httpx

from voicetui.ports import StageError

HIDDEN = "***"

_MAX_WORDS = 240
_MIN_SECRET = 4
_VALUE = r"(?:(?=[A-Za-z]*[0-9_~+/=*-])[A-Za-z0-9._~+/=*-]{6,}|[A-Za-z]{20,})"  # words are no credentials
_CREDENTIALS = re.compile(rf"(?i)\b(bearer|basic|token)(?:\s+|%20){_VALUE}")
_NAMED = re.compile(
    r"(?i)((?:authorization|x-api-key|api[-_ ]?key|access[-_]?token|secret|password)[\"']?\s*[:=]\s*[\"']?)"
    rf"(?!\s*(?:bearer|basic)\b){_VALUE}"
)
_KEY_SHAPES = re.compile(r"\b(?:sk|pk|gsk|xai|hf|nvapi|AIza)[-_]?[A-Za-z0-9*][A-Za-z0-9_*.-]{9,}")
_URL_USER = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^/\s@]+@")
_URL_QUERY = re.compile(r"([?&][^=&\s#]+=)[^&\s#\"']+")
_TAGS = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>")


class Secrets:
    """Takes known secrets, and whatever looks like a credential, out of text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        partly: list[str] = []
        for value in values:
            if len(value) >= _MIN_SECRET:
                forms |= {value, quote(value, safe=""), json.dumps(value)[1:-1], value.strip()}
                forms |= {base64.b64encode(f"{before}{value}".encode()).decode() for before in ("", "Bearer ")}
            if len(value) >= 2 * _MIN_SECRET:  # "abcd****wxyz", as some servers quote it
                partly.append(re.escape(value[:3]) + r"[^\s\"']*\*{2,}[^\s\"']*")
        self._forms = sorted(forms, key=len, reverse=True)
        self._partly = re.compile("|".join(partly)) if partly else None

    def mask(self, text: str) -> str:
        """``text`` with every secret replaced by ``***``."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        if self._partly:
            text = self._partly.sub(HIDDEN, text)
        text = _CREDENTIALS.sub(lambda match: f"{match[1]} {HIDDEN}", text)
        text = _NAMED.sub(lambda match: f"{match[1]}{HIDDEN}", text)
        text = _KEY_SHAPES.sub(HIDDEN, text)
        text = _URL_USER.sub(rf"\1{HIDDEN}@", text)
        return _URL_QUERY.sub(rf"\1{HIDDEN}", text)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and what may be said about it: ``shown`` is the base URL without credentials and query."""

    tier: str
    model: str
    url: httpx.URL
    shown: str
    secrets: Secrets
    auth: tuple[str, str] | None = None
    key_env: str = ""
    has_key: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether the server is this machine: then no proxy is ever used."""
        host = self.url.host.strip("[]").lower()
        return host in ("localhost", "::1", "0.0.0.0") or host.endswith(".localhost") or host.startswith("127.")

    def fail(self, stage: str, message: str, remedy: str = "") -> StageError:
        """A ``StageError`` about this endpoint, masked."""
        return StageError(self.secrets.mask(message), self.secrets.mask(remedy), stage)


def endpoint(tier: str, model: str, base_url: str, api_key: str | None, key_env: str = "") -> Endpoint:
    """Read ``base_url`` (with or without a final ``/chat/completions``). Raises ``StageError`` where it is unusable."""
    remedy = f"Set base_url of tier {tier!r} to something like http://127.0.0.1:8080/v1."
    secrets = [api_key] if api_key else []
    try:
        url = httpx.URL(base_url.strip())
    except (httpx.InvalidURL, ValueError, TypeError):
        raise StageError(f"The base_url of tier {tier!r} is not a URL.", remedy, "connect") from None
    if url.scheme not in ("http", "https") or not url.host or (url.port or 0) > 65535:
        shown = Secrets(secrets).mask(base_url.strip()) or "(empty)"
        raise StageError(f"The base_url {shown} of tier {tier!r} is not an http or https URL.", remedy, "connect")
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise StageError(f"The API key of tier {tier!r} holds characters no key can have.",
                         f"Look for stray line ends and quotes in {key_env or 'its variable'}.", "http")  # fmt: skip
    user, password = unquote(url.username), unquote(url.password)
    secrets += [value for value in (password, user if not password else "") if value]
    secrets += [value for _, value in url.params.multi_items() if value]
    path = url.path.rstrip("/").removesuffix("/chat/completions")
    bare = url.copy_with(username=None, password=None, fragment=None)
    shown = str(bare.copy_with(query=None, path=path or "/")).rstrip("/")
    auth = (user, password) if (user or password) and not api_key else None
    if auth:
        secrets.append(":".join(auth))
    return Endpoint(
        tier=tier, model=model, url=bare.copy_with(path=f"{path}/chat/completions"), shown=shown,
        secrets=Secrets(secrets), auth=auth, key_env=key_env, has_key=bool(api_key),
    )  # fmt: skip


def server_words(body: bytes, content_type: str = "") -> str:
    """What a refusal's body says, on one line and not too long: the error in a JSON body, the text of a page."""
    text = body.decode("utf-8", errors="replace").strip()
    try:
        text = _message_in(json.loads(text)) or text
    except (ValueError, RecursionError):
        if "html" in content_type or text[:1] == "<":
            text = _TAGS.sub(" ", text)
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - 1] + "…"


def _message_in(value: object) -> str:
    """The text under the names servers use for an error; "" if there is none."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message_in, value[:3])))
    if isinstance(value, dict):
        for name in ("error", "message", "detail", "msg", "errors", "error_description", "type"):
            if value.get(name):
                return _message_in(value[name])
        return ""
    return value if isinstance(value, str) else ""


def refused(target: Endpoint, status: int, words: str, location: str = "") -> StageError:
    """The failure an HTTP status other than 200 stands for."""
    said = f": {words}" if words else ""
    message = f"{target.shown} answered {status}{said}"
    if 300 <= status < 400:
        return target.fail("http", f"{target.shown} answered {status} and points to {location or 'nowhere'}",
                           "Set base_url to the address the server points to.")  # fmt: skip
    return target.fail("http", message, _remedy(target, status, words.lower()))


def _remedy(target: Endpoint, status: int, words: str) -> str:
    if status in (401, 403):
        return _key_remedy(target, status)
    if status == 404:
        return (f"Check that the model {target.model!r} exists there, and that base_url is right"
                " (for most servers it ends in /v1).")  # fmt: skip
    if status == 405:
        return "Check base_url: for most servers it ends in /v1."
    if status == 402 or "insufficient_quota" in words or "quota" in words or "billing" in words:
        return "Check the account's credit and limits with the provider, or choose another tier."
    if status == 429:
        return "Wait a moment, or choose another tier."
    if status == 413 or ("context" in words and any(word in words for word in ("length", "exceed", "size", "window"))):
        return "The conversation is too long for the model: start a new session, or take a model with a larger context."
    if status in (502, 503, 504, 529):
        return "The server is overloaded, starting or down: try again, or choose another tier."
    if status >= 500:
        return "The server failed by itself: look at its log, try again, or choose another tier."
    return f"Check the settings of tier {target.tier!r}: model, max_tokens, temperature and extra."


def _key_remedy(target: Endpoint, status: int) -> str:
    variable = target.key_env or f"the variable named by api_key_env of tier {target.tier!r}"
    if not target.has_key:
        return f"Put the API key in the environment: {variable} is not set."
    if status == 403:
        return f"Check that the key in {variable} may use the model {target.model!r}."
    return f"Check the API key in {variable}: the server does not accept it."


def unreachable(target: Endpoint, error: BaseException) -> StageError:
    """The failure of a connection that never came about."""
    chain = list(_causes(error))
    text = " ".join(str(cause) for cause in chain).lower()
    where = f"{target.url.host}:{target.url.port or (443 if target.url.scheme == 'https' else 80)}"
    if isinstance(error, httpx.ProxyError) or "proxy" in text:
        return target.fail("connect", f"The proxy on the way to {where} did not let us through: {error}",
                           "Check HTTPS_PROXY, ALL_PROXY and NO_PROXY in the environment.")  # fmt: skip
    if any(isinstance(cause, ssl.SSLError) for cause in chain) or "ssl" in text or "certificate" in text:
        return _tls(target, where, text)
    if any(word in text for word in ("name or service", "getaddrinfo", "nodename", "name resolution", "no address")):
        return target.fail("connect", f"The host {target.url.host} is not known",
                           f"Check base_url of tier {target.tier!r} and the network.")  # fmt: skip
    if "unreachable" in text:
        return target.fail("connect", f"{where} cannot be reached: no network route leads to it", "Check the network.")
    return target.fail("connect", f"No connection to {where}: {_plain_reason(text)}",
                       f"Is the server running at {target.shown}?")  # fmt: skip


def _plain_reason(text: str) -> str:
    if "refused" in text or "all connection attempts failed" in text:
        return "nothing listens there"
    if "reset" in text:
        return "it was reset"
    return "the attempt failed"


def _tls(target: Endpoint, where: str, text: str) -> StageError:
    if "wrong version" in text or "unknown protocol" in text or "record layer" in text:
        return target.fail("connect", f"{where} does not speak TLS", "Use http:// instead of https:// in base_url.")
    if "verify failed" in text or "certificate" in text:
        reason = "its certificate is not trusted"
        if "expired" in text:
            reason = "its certificate has expired"
        elif "self-signed" in text or "self signed" in text:
            reason = "its certificate is self-signed"
        elif "hostname" in text or "not valid for" in text:
            reason = f"its certificate is not for {target.url.host}"
        return target.fail("connect", f"No safe connection to {where}: {reason}",
                           "Check the host in base_url; for a private authority set SSL_CERT_FILE.")  # fmt: skip
    return target.fail("connect", f"No safe connection to {where}: the TLS handshake failed",
                       "Check the scheme and port in base_url.")  # fmt: skip


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from error.exceptions
        error = error.__cause__ or error.__context__
