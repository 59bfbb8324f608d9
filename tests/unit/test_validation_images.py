"""Images given as text: what is legal, and every spelling of a local host."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon_client.messages.validation import check_image

PNG = "iVBORw0KGgo="

LEGAL = [
    "https://example.org/a.png",
    "http://example.org",
    "HTTPS://EXAMPLE.ORG:8443/a?b=c#d",
    "https://user:secret@example.org/a",
    "https://bücher.example/ü.png",
    "https://xn--bcher-kva.example/",
    "https://example.org./",
    "https://8.8.8.8/a.png",
    "https://134744072/",
    "https://172.15.255.255/",
    "https://172.32.0.0/",
    "https://11.0.0.0/",
    "https://9.255.255.255/",
    "https://[2001:4860:4860::8888]/a",
    "https://[::ffff:8.8.8.8]/",
    "https://[2002:808:808::1]/",
    "https://localhost.example.org/",
    "https://notlocalhost/",
    "https://10.example.org/",
    "https://0x7f.example/",
    "https://example.org/%20/%E2%82%AC",
    "https://example.org/@127.0.0.1",
    "https://example.org/?u=http://127.0.0.1",
    f"data:image/png;base64,{PNG}",
    "data:image/jpeg;base64,/9j/4AAQSkZJRg==",
    "data:image/gif;base64,R0lGODlh",
    "data:image/webp;base64,UklGRg==",
    PNG,
    "/9j/4AAQSkZJRg==",
    "QUJD" * 1000,
]

REFUSED = {
    "": "empty",
    " ": "neither a URL nor base64",
    "abc": "neither a URL nor base64",
    "abc!": "neither a URL nor base64",
    "QUJD\n": "neither a URL nor base64",
    "QUJD QUJD": "neither a URL nor base64",
    "QUJD====": "neither a URL nor base64",
    "QUI=QUJD": "neither a URL nor base64",
    "_-__": "neither a URL nor base64",
    "éééé": "neither a URL nor base64",
    "//example.org/a": "neither a URL nor base64",
    "example.org/a.png": "neither a URL nor base64",
    "data:image/png;base64,": "payload must not be empty",
    "data:image/png;base64,!!": "payload is not base64",
    "data:image/png;base64,abc": "payload is not base64",
    f"data:image/svg+xml;base64,{PNG}": "must begin with data:image/",
    f"data:image/PNG;base64,{PNG}": "must begin with data:image/",
    f"data:image/png;charset=utf-8;base64,{PNG}": "must begin with data:image/",
    "data:image/png,abc": "must begin with data:image/",
    "data:text/html;base64,QUJD": "must begin with data:image/",
    "DATA:text/html,x": "must begin with data:image/",
    "file:///etc/passwd": "scheme must be",
    "ftp://example.org/a": "scheme must be",
    "javascript:alert(1)": "scheme must be",
    "blob:https://example.org/x": "scheme must be",
    "gopher://127.0.0.1/": "scheme must be",
    "https://example.org/\x00": "NUL",
    "https://example.org/%00": "NUL",
    "http://": "must have a host",
    "http:///a": "must have a host",
    "http:example.org": "must have a host",
    "http:/example.org": "must have a host",
    "http://@/": "must have a host",
    "http://:80/": "must have a host",
    "http://?x": "must have a host",
    "http://./": "neither a name nor an address",
    "http://a..b/": "neither a name nor an address",
    "http://example.org:99999/": "not a URL",
    "http://example.org:x/": "not a URL",
    "http://[::1/": "not a URL",
    "http://[v1.x]/": "",
    "http://[zz]/": "",
    "http://1.2.3.4.5/": "neither a name nor an address",
    "http://256.1.1.1/": "neither a name nor an address",
    "http://1.2.3.256/": "neither a name nor an address",
    "http://08.1.1.1/": "neither a name nor an address",
    "http://example.1/": "neither a name nor an address",
    "http://4294967296/": "neither a name nor an address",
    "http://" + "9" * 5000 + "/": "neither a name nor an address",
    "http://example.org/a b": "spaces",
    " http://example.org/": "neither a URL nor base64",
    "http://example.org/\t": "control",
    "http://exa\nmple.org/": "control",
    "http://127.0.0.1\\@example.org/": "backslashes",
    "http://example.org\\.127.0.0.1/": "backslashes",
}

LOCAL_HOSTS = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "a.b.localhost.",
    "localhost.localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "loc\u00adalhost",
    "\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54",
    "127.0.0.1",
    "127.255.255.254",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "127.65535",
    "127.16777215",
    "2130706433",
    "0x7f000001",
    "0x7F.0.0.1",
    "0X7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.0.0.01",
    "0000177.0.0.1",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020\u30020\u30021",
    "①②⑦.⓪.⓪.①",
    "0",
    "0.0.0.0",
    "0x",
    "10.0.0.1",
    "10.1",
    "0xa000001",
    "167772161",
    "012.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.257",
    "3232235521",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::127.0.0.1]",
    "[::ffff:0:192.168.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::8.8.8.8]",
    "[2002:7f00:1::]",
    "[2002:c0a8:1::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
]


@pytest.mark.parametrize("text", LEGAL)
def test_legal(text: str) -> None:
    assert check_image(text) is None


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:30]))
def test_refused(text: str) -> None:
    reason = check_image(text)
    assert reason is not None
    assert REFUSED[text] in reason


@pytest.mark.parametrize("host", LOCAL_HOSTS, ids=ascii)
@pytest.mark.parametrize("form", ["http://{}/a.png", "https://user@{}:8080", "hTTp://{}?x"])
def test_local_hosts(host: str, form: str) -> None:
    reason = check_image(form.format(host))
    assert reason in (
        "the host is a loopback, private or link-local address",
        "the host is the local machine",
    )


@pytest.mark.parametrize("host", ["127%2e0.0.1", "%31%32%37.0.0.1", "localhos%74", "[fe80::1%25eth0]"])
def test_escaped_hosts(host: str) -> None:
    assert check_image(f"http://{host}/") is not None


@given(st.integers(0, 2**32 - 1).filter(lambda number: number >> 24 in (0, 10, 127)), st.data())
def test_every_spelling_of_a_local_address_is_seen(number: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))
    octets = list(number.to_bytes(4, "big"))
    parts = [*octets[: count - 1], int.from_bytes(bytes(octets[count - 1 :]), "big")]
    spellings = st.sampled_from(["{}", "{:#x}", "0{:o}", "0X{:04X}"])
    host = ".".join(data.draw(spellings).format(part) for part in parts)
    assert check_image(f"http://{host}/") == "the host is a loopback, private or link-local address"


@given(st.binary(min_size=1, max_size=60))
def test_all_base64_is_legal(payload: bytes) -> None:
    text = base64.b64encode(payload).decode()
    assert check_image(text) is None
    assert check_image(f"data:image/png;base64,{text}") is None


@given(
    st.text(max_size=30),
    st.sampled_from(["", "http://", "https://[", "data:", "data:image/png;base64,", "http://a@"]),
)
def test_any_text_gets_an_answer(text: str, prefix: str) -> None:
    reason = check_image(prefix + text)
    assert reason is None or reason
