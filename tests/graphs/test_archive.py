"""Hostile and damaged archives: one clear error, nothing written, no memory eaten."""

import os
import stat
import tracemalloc
import zipfile

import pytest

import graphgrain as gg
from graphgrain.errors import InvalidFileError, InvalidParameterError
from graphgrain.graphs.files.archive import MAX_MEMBERS, default_limit

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
    inside = tmp_path / "inside"
    inside.mkdir()
    before = sorted(tmp_path.rglob("*"))
    file = zipped(inside / "DS.zip", {**GOOD, name: "1"})
    with pytest.raises(InvalidFileError, match=r"must stay inside it; DS.zip holds .*evil"):
        gg.load_tu(file)
    file.unlink()
    assert sorted(tmp_path.rglob("*")) == before


def test_links(tmp_path):
    link = zipfile.ZipInfo("DS/DS_node_labels.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = zipped(tmp_path / "DS.zip", GOOD)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidFileError, match=r"must not hold links.*DS_node_labels"):
        gg.load_tu(file)


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


def test_a_member_that_lies_about_its_size(tmp_path):
    file = zipped(tmp_path / "DS.zip", {**GOOD, "DS/DS_node_labels.txt": b"0\n" * 100_000})
    data = file.read_bytes()
    real = (200_000).to_bytes(4, "little")
    file.write_bytes(data.replace(real, (4).to_bytes(4, "little")))
    with pytest.raises(InvalidFileError, match=r"DS.zip"):
        gg.load_tu(file)


def test_more_members_than_anyone_needs(tmp_path):
    file = zipped(tmp_path / "DS.zip", GOOD, **{f"{n}": "" for n in range(MAX_MEMBERS)})
    with pytest.raises(InvalidFileError, match="more than 10,000 files"):
        gg.load_tu(file)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice(tmp_path):
    file = zipped(tmp_path / "DS.zip", GOOD)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("DS/DS_A.txt", "2, 1\n")
    with pytest.raises(InvalidFileError, match=r"'DS/DS_A.txt' twice"):
        gg.load_tu(file)


def test_files_that_are_no_zip(tmp_path):
    good = zipped(tmp_path / "DS.zip", GOOD).read_bytes()
    for content in (b"", b"PK", b"MZ" * 1000, good[:-30], good[: len(good) // 2]):
        file = tmp_path / "bad.zip"
        file.write_bytes(content)
        with pytest.raises(InvalidFileError, match=r"bad.zip is not a readable zip"):
            gg.load_tu(file)


def test_damaged_contents(tmp_path):
    file = zipped(
        tmp_path / "DS.zip", {"DS/DS_A.txt": "1, 2\n" * 1000, "DS/DS_graph_indicator.txt": "1\n1\n"}
    )
    data = bytearray(file.read_bytes())
    data[60:64] = b"\xff\xff\xff\xff"
    file.write_bytes(data)
    with pytest.raises(InvalidFileError, match=r"DS.zip cannot be read"):
        gg.load_tu(file)


def test_encrypted_members(tmp_path):
    file = zipped(tmp_path / "DS.zip", GOOD)
    data = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    file.write_bytes(data)
    with pytest.raises(InvalidFileError, match=r"DS.zip cannot be read.*encrypted"):
        gg.load_tu(file)


def test_a_folder_that_may_not_be_read(tmp_path):
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may read everything, and Windows knows no such rights")
    gg.save_tu(tmp_path / "DS", [([(0, 1)], None)])
    (tmp_path / "DS" / "DS_A.txt").chmod(0)
    with pytest.raises(InvalidFileError, match="DS"):
        gg.load_tu(tmp_path / "DS")
