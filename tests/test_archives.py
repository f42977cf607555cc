"""Files of arrays: what they say is checked before anything is allocated or followed."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib

import numpy as np
import pytest

from graphgrain.archives import (
    Archive,
    Format,
    document,
    read_document,
    read_npz,
    write_archive,
)
from graphgrain.errors import InvalidFileError

FORM = Format("graphgrain test", b"GGTEST\0\0", 3, "Make it again")
ARRAYS = {
    "x": np.arange(5, dtype=np.uint32),
    "empty": np.empty((0, 3)),
    "big": np.arange(12.0).reshape(3, 4).astype(">f8"),
}


@pytest.fixture
def path(tmp_path):
    with open(tmp_path / "a.test", "wb") as file:
        size = write_archive(file, FORM, {"n": 2}, ARRAYS)
    assert (tmp_path / "a.test").stat().st_size == size
    return tmp_path / "a.test"


def crafted(path, change):
    """Change the header of an archive, with a checksum that fits."""
    content = path.read_bytes()
    length = struct.unpack("<I", content[12:16])[0]
    header = json.loads(content[20 : 20 + length])
    text = json.dumps(change(header) or header).encode()
    assert len(text) <= length
    text = text.ljust(length)
    path.write_bytes(
        content[:12] + struct.pack("<II", length, zlib.crc32(text)) + text + content[20 + length :]
    )


def test_what_was_written(path):
    archive = Archive(path, FORM)
    assert archive.about == {"n": 2}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(archive[name], array)
        assert not archive[name].flags.writeable
    assert archive.array("big", "f8", (3, None)).shape == (3, 4)
    for dtype, shape in (("f4", (3, 4)), ("f8", (4, 4)), ("f8", (12,))):
        with pytest.raises(InvalidFileError, match=r"The part 'big' of a\.test"):
            archive.array("big", dtype, shape)
    with pytest.raises(InvalidFileError, match="missing"):
        archive["y"]


@pytest.fixture
def packed(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {
        "gaps": rng.integers(0, 2**40, 300, dtype=np.uint64).reshape(3, 100),
        "ones": np.ones(10_000, dtype=np.uint16),
        "noise": rng.integers(0, 256, 500, dtype=np.uint8),
        "empty": np.empty((0, 3)),
    }
    path = tmp_path / "packed.test"
    with open(path, "wb") as file:
        size = write_archive(file, FORM, {}, arrays, packed=True)
    assert path.stat().st_size == size < 4000
    return path, arrays


def test_packed_arrays_are_what_was_packed(packed):
    path, arrays = packed
    archive = Archive(path, FORM)
    for name, array in arrays.items():
        found = archive[name]
        np.testing.assert_array_equal(found, array)
        assert (found.dtype, found.flags.writeable) == (array.dtype, False)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"shape": [9_999]}, "should have 19,998 bytes, no more, no less"),
        ({"shape": [10_001]}, "should have 20,002 bytes, no more, no less"),
        ({"shape": [2**30]}, "bytes cannot hold it"),  # a small file asks for no memory
        ({"packed": -1}, "bytes cannot hold it"),
        ({"packed": "1"}, "bytes cannot hold it"),
        ({"packed": 2**40}, "the file ends"),
    ],
)
def test_packed_arrays_that_lie(packed, entry, words):
    path, _ = packed
    crafted(path, lambda header: header["parts"]["ones"].update(entry))
    with pytest.raises(InvalidFileError, match=words):
        Archive(path, FORM)["ones"]


def test_packed_arrays_that_are_damaged(packed):
    path, _ = packed
    content = bytearray(path.read_bytes())
    archive = Archive(path, FORM)
    entry = archive._entries["ones"]
    begin = archive._base + entry["offset"]
    content[begin + 5] ^= 255
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match="checksum does not match"):
        Archive(path, FORM)["ones"]
    crc = zlib.crc32(bytes(content[begin : begin + entry["packed"]]))
    crafted(path, lambda header: header["parts"]["ones"].update(crc32=crc))
    with pytest.raises(InvalidFileError, match=r"cannot be unpacked|no more, no less"):
        Archive(path, FORM)["ones"]


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "|O"},
        {"dtype": "<U4"},
        {"dtype": None},
        {"dtype": []},
        {"shape": [-1]},
        {"shape": [2**40]},
        {"shape": [2**32, 2**32]},
        {"shape": [2**63]},
        {"shape": [5.0]},
        {"shape": [True]},
        {"shape": 5},
        {"offset": -64},
        {"offset": 10**6},
        {"offset": 8},
        {"offset": None},
    ],
)
def test_a_header_that_lies(path, entry):
    crafted(path, lambda header: header["parts"]["x"].update(entry))
    with pytest.raises(InvalidFileError, match="The part 'x' of"):
        Archive(path, FORM)


@pytest.mark.parametrize("content", ["[]", "{}", '{"about": 3, "parts": {}}', "[" * 500, "nul"])
def test_a_header_of_another_form(path, content):
    old = path.read_bytes()
    length = struct.unpack("<I", old[12:16])[0]
    text = content.encode().ljust(length)
    path.write_bytes(
        old[:12] + struct.pack("<II", len(text), zlib.crc32(text)) + text + old[20 + length :]
    )
    with pytest.raises(InvalidFileError, match="The part 'header' of"):
        Archive(path, FORM)


def test_other_files(path, tmp_path):
    content = path.read_bytes()
    for wrong, message in (
        (b"", "not a graphgrain test file"),
        (b"PK\3\4" + content[4:], "not a graphgrain test file"),
        (content[:8] + struct.pack("<I", 4) + content[12:], "version 4 of the format"),
        (content[:12] + struct.pack("<I", 2**32 - 1) + content[16:], "'header'"),
        (content[:64], "'header'"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(InvalidFileError, match=message):
            Archive(path, FORM)
    with pytest.raises(InvalidFileError, match=r"b\.test is missing"):
        Archive(tmp_path / "b.test", FORM)


def test_documents(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(document(FORM, {"a": [1]}))
    assert read_document(path, FORM) == {"a": [1]}
    content = path.read_bytes()
    for wrong, message in (
        (content.replace(b"[\n  1", b"[\n  2"), "checksum does not match"),
        (content.replace(b'"version": 3', b'"version": true'), "version True"),
        (b"\xff", "not the manifest"),
        (b"", "not the manifest"),
    ):
        assert wrong != content
        path.write_bytes(wrong)
        with pytest.raises(InvalidFileError, match=message):
            read_document(path, FORM)


# -------------------------------------------------------------------- NumPy's archives


def npz(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def test_npz_is_what_numpy_wrote(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {
        "a": np.arange(6).reshape(2, 3),
        "b": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "c": np.array("text"),
        "d": np.empty(0),
    }
    np.savez(path, **arrays)
    found = read_npz(path, "a thing", "Make it again")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_npz_that_asks_for_more_than_it_has(tmp_path):
    path = tmp_path / "a.npz"
    huge = npy(np.zeros(3)).replace(b"(3,)", b"(9999999999999,)"[:4])
    header = npy(np.zeros(3))
    lying = header.replace(b"'shape': (3,), }          ", b"'shape': (3333333333,), } ")
    assert lying != header
    bomb = npy(np.zeros(10**6))
    for members, compression in (
        ({"a.npy": bomb}, zipfile.ZIP_DEFLATED),
        ({"a.npy": lying}, zipfile.ZIP_STORED),
        ({"a.npy": huge[:40]}, zipfile.ZIP_STORED),
        ({"a.npy": npy(np.array([{}, []], dtype=object))}, zipfile.ZIP_STORED),
        ({"a.txt": b"hello"}, zipfile.ZIP_STORED),
        ({"a.npy": b"hello"}, zipfile.ZIP_STORED),
    ):
        npz(path, members, compression)
        with pytest.raises(InvalidFileError, match=r"is not a thing, or it is damaged.*Make it"):
            read_npz(path, "a thing", "Make it again")
    path.write_bytes(b"PK")
    with pytest.raises(InvalidFileError, match="is not a thing"):
        read_npz(path, "a thing", "Make it again")
    with pytest.raises(InvalidFileError, match="There is no file"):
        read_npz(tmp_path / "b.npz", "a thing", "Make it again")
