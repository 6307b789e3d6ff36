"""Files are written atomically; devices and pipes are written directly."""

import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from lincent._errors import AppError
from lincent._files import PARTIAL, OutputError, atomic_write, check_output, write_file

posix = pytest.mark.skipif(os.name == "nt", reason="links, pipes and rights as POSIX has them")


def test_a_file_appears_at_the_end_of_the_block(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_write(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_text_is_the_same_bytes_on_every_system(tmp_path):
    assert write_file(tmp_path / "a", "é\n").read_bytes() == "é\n".encode()


@pytest.mark.parametrize("error", [RuntimeError("x"), KeyboardInterrupt(), OSError(28, "No space")])
def test_an_error_leaves_the_old_file(tmp_path, error):
    path = write_file(tmp_path / "a", "old")

    def half():
        with atomic_write(path, force=True) as file:
            file.write(b"new")
            raise error

    with pytest.raises(type(error)):
        half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_rename_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_file(tmp_path / "a", "old")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(
        OutputError, match=r"a was not written: no space left on device\."
    ) as caught:
        write_file(path, "new")
    assert isinstance(caught.value, AppError)  # an error message of the command line
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_readers_see_a_whole_file_while_others_write(tmp_path):
    path = tmp_path / "t.csv"
    texts = [letter * 200_000 for letter in "abc"]
    write_file(path, texts[0])
    failures = []

    def write():
        try:
            for text in texts:
                write_file(path, text)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(path.read_text())
    assert failures == []
    assert seen <= set(texts)
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_pipe_named_like_a_temporary_file_does_not_hang_a_write(tmp_path):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / f".x{PARTIAL}")
        assert write_file(tmp_path / "a", "x").read_text() == "x"


def test_refusals_say_what_to_do(tmp_path):
    old = write_file(tmp_path / "a", "old")
    for path, words in [
        (old, "exists already: give --force"),
        (tmp_path, "is a folder: name a file"),
        (tmp_path / "no" / "b", "does not exist: make it first"),
    ]:
        with pytest.raises(OutputError, match=words):
            check_output(path, force=False)
        with pytest.raises(OutputError, match=words), atomic_write(path):
            pass
    assert old.read_text() == "old"


@posix
def test_the_rights_of_a_replaced_file_stay(tmp_path):
    path = write_file(tmp_path / "a", "old")
    os.chmod(path, 0o640)
    write_file(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        fresh = write_file(tmp_path / "b", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="nothing is protected from root")
def test_a_protected_file_is_not_replaced(tmp_path):
    path = write_file(tmp_path / "a", "old")
    os.chmod(path, 0o440)
    with pytest.raises(OutputError, match="write-protected"):
        write_file(path, "new")


@posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "far").mkdir()
    target = write_file(tmp_path / "far" / "a", "old")
    for link, content in [("one", "new"), ("two", "newer")]:
        (tmp_path / link).symlink_to(target)
        write_file(tmp_path / link, content)
        assert (tmp_path / link).is_symlink()
        assert target.read_text() == content
    (tmp_path / "dangling").symlink_to("far/b")
    write_file(tmp_path / "dangling", "made")
    assert (tmp_path / "far" / "b").read_text() == "made"
    (tmp_path / "lost").symlink_to("nowhere/b")
    with pytest.raises(OutputError, match="nowhere does not exist"):
        write_file(tmp_path / "lost", "x")
    assert sorted(os.listdir(tmp_path / "far")) == ["a", "b"]


@posix
def test_a_pipe_is_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    with atomic_write(pipe) as file:  # no --force: nothing is replaced
        file.write(b"through")
    reader.join(10)
    assert found == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_devices_and_descriptors_are_written_through(tmp_path):
    null = os.stat(os.devnull)
    write_file(os.devnull, "gone")
    assert os.stat(os.devnull).st_ino == null.st_ino
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    if os.path.exists("/dev/full"):
        with pytest.raises(OutputError, match="/dev/full was not written: no space"):
            write_file("/dev/full", "x")
    code = "from lincent._files import write_file; write_file('/dev/stdout', 'second\\n')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert piped.stdout == b"second\n", piped.stderr


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_file(path, "x")
    assert os.listdir(tmp_path) == [path.name]


def test_many_writers_in_one_folder(tmp_path):
    failures, end = [], time.monotonic() + 0.5

    def work(name):
        try:
            while time.monotonic() < end:
                write_file(tmp_path / name, name)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert sorted(os.listdir(tmp_path)) == list("abcdef")
