"""Hostile and damaged archives: one clear error, nothing written, no memory eaten."""

import os
import stat
import tracemalloc
import zipfile

import pytest

import graphgrain as gg
from graphgrain.errors import InvalidFileError, InvalidParameterError
from graphgrain.graphs.files.archive import default_limit

GOOD = {"DS/DS_A.txt": "1, 2\n", "DS/DS_graph_indicator.txt": "1\n1\n"}


def zipped(path, members, **extra):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, **extra}.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "DS/../../evil.txt",
        "/etc/evil.txt",
        "..\\evil.txt",
        "C:\\evil.txt",
        "C:/evil",
    ],
)
def test_paths_that_leave_the_zip(tmp_path, name):
    file = zipped(tmp_path / "DS.zip", {**GOOD, name: "1"})
    with pytest.raises(InvalidFileError, match=r"must stay inside it; DS.zip holds .*evil"):
        gg.load_tu(file)
    assert list(tmp_path.rglob("*")) == [file]


def with_link(path):
    link = zipfile.ZipInfo("DS/DS_node_labels.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(zipped(path, GOOD), "a") as archive:
        archive.writestr(link, "/etc/passwd")


def with_a_member_twice(path):
    with zipfile.ZipFile(zipped(path, GOOD), "a") as archive:
        archive.writestr("DS/DS_A.txt", "2, 1\n")


def with_a_wrong_size(path):
    zipped(path, {**GOOD, "DS/DS_node_labels.txt": b"0\n" * 100_000})
    size, small = (number.to_bytes(4, "little") for number in (200_000, 4))
    path.write_bytes(path.read_bytes().replace(size, small))


def with_damage(path):
    data = bytearray(zipped(path, {**GOOD, "DS/DS_A.txt": "1, 2\n" * 1000}).read_bytes())
    data[60:64] = b"\xff\xff\xff\xff"
    path.write_bytes(data)


def encrypted(path):
    data = bytearray(zipped(path, GOOD).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    path.write_bytes(data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (with_link, "must not hold links.*DS_node_labels"),
        (with_a_member_twice, "'DS/DS_A.txt' twice"),
        (with_a_wrong_size, "DS.zip"),
        (with_damage, "DS.zip cannot be read"),
        (encrypted, "DS.zip cannot be read.*encrypted"),
        (lambda path: zipped(path, {str(n): "" for n in range(10_001)}), "than 10,000 files"),
        (lambda path: path.write_bytes(b""), "DS.zip is not a readable zip"),
        (lambda path: path.write_bytes(b"PK"), "DS.zip is not a readable zip"),
        (lambda path: path.write_bytes(b"MZ" * 1000), "DS.zip is not a readable zip"),
        (
            lambda path: path.write_bytes(zipped(path, GOOD).read_bytes()[:-30]),
            "DS.zip is not a readable zip",
        ),
    ],
)
def test_archives_that_are_refused(tmp_path, make, message):
    make(tmp_path / "DS.zip")
    with pytest.raises(InvalidFileError, match=message):
        gg.load_tu(tmp_path / "DS.zip")


def test_a_bomb_is_refused_before_it_goes_off(tmp_path):
    file = zipped(tmp_path / "DS.zip", {**GOOD, "DS/DS_node_labels.txt": b"0\n" * (40 * 2**20)})
    assert file.stat().st_size < 200_000
    tracemalloc.start()
    with pytest.raises(InvalidFileError, match=r"more than 67,108,864 bytes.*max_bytes"):
        gg.load_tu(file)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_the_limit_can_be_raised_and_lowered(tmp_path):
    folder = tmp_path / "DS"
    gg.save_tu(folder, [([(0, 1)], [1, 2])])
    gg.save_tu(tmp_path / "DS.zip", [([(0, 1)], [1, 2])])
    for path in (folder, tmp_path / "DS.zip"):
        assert len(gg.load_tu(path, max_bytes=1000)[0]) == 1
        with pytest.raises(InvalidFileError, match="more than 10 bytes"):
            gg.load_tu(path, max_bytes=10)
        for wrong in (0, -1, "1", 1.5):
            with pytest.raises(InvalidParameterError, match="max_bytes"):
                gg.load_tu(path, max_bytes=wrong)


def test_the_default_limit_grows_with_the_file():
    assert default_limit(0) == 64 * 2**20
    assert default_limit(2 * 2**20) == 200 * 2**20
    assert default_limit(2**40) == 2**30


def test_a_folder_that_may_not_be_read(tmp_path):
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may read everything, and Windows knows no such rights")
    gg.save_tu(tmp_path / "DS", [([(0, 1)], None)])
    (tmp_path / "DS" / "DS_A.txt").chmod(0)
    with pytest.raises(InvalidFileError, match="DS"):
        gg.load_tu(tmp_path / "DS")
