"""The declarations agree with the compiler, another library is refused, importing costs little."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

import specroute
from specroute import _declarations, _library

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_sizes_offsets_and_numbers_agree_with_the_compiler(tmp_path):
    program = subprocess.run([sys.executable, SOURCE / "python" / "declarations.py", "--sizes"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    (tmp_path / "sizes.c").write_text(program)
    subprocess.run(["cc", "-I", SOURCE / "include", tmp_path / "sizes.c", "-o", tmp_path / "sizes"],
                   check=True)
    told = subprocess.run([tmp_path / "sizes"], check=True, stdout=subprocess.PIPE, text=True,
                          env={"PATH": os.environ["PATH"]}).stdout
    checked = 0
    for line in told.splitlines():
        name, number = line.split()
        struct, _, field = name.partition(".")
        here = getattr(_declarations, struct)
        if field:
            assert getattr(here, field).offset == int(number), name
        else:
            assert (here if isinstance(here, int) else ctypes.sizeof(here)) == int(number), name
        checked += 1
    assert checked > 300


def test_another_library_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("int sr_abi(void) { return 1; }")
    (tmp_path / "none.c").write_text("int nothing;")
    for name, shown in (("other", "it says 0x1"), ("none", "it says no number")):
        subprocess.run(["cc", "-shared", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.so"], check=True)
        with pytest.raises(ImportError, match=shown):
            _library._load(str(tmp_path / f"{name}.so"))


def test_every_public_function_is_there():
    assert len(_declarations.FUNCTIONS) > 150
    for name in _declarations.FUNCTIONS:
        assert getattr(_library.lib, name).argtypes is not None


def test_import_is_light():
    code = "import sys, specroute; print(sorted(set(sys.modules) & {'numpy', 'sklearn', 'scipy'}))"
    told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    assert told.stdout.strip() == "[]"


def test_every_name_is_importable():
    for name in specroute.__all__:
        assert getattr(specroute, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        specroute.nothing
    assert set(specroute.__all__) <= set(dir(specroute))


def test_the_version_is_that_of_the_library():
    assert specroute.build_info()["version"] == specroute.__version__


def test_the_module_is_the_command():
    told = subprocess.run([sys.executable, "-m", "specroute", "--version"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    assert specroute.__version__ in told


def test_errors_are_of_the_right_kind():
    with pytest.raises(ValueError, match="ar11"):
        specroute.simulate("ar11")
    with pytest.raises(specroute.NotFoundError):
        specroute.simulate("ar1:m=5")
    with pytest.raises(ValueError):
        specroute.simulate("ar1:n=-5")
    with pytest.raises(OSError):
        specroute.read("/no/such/file.csv")
    with pytest.raises(specroute.SpecrouteError):
        specroute.load("/no/such/model")
    with pytest.raises(ValueError, match="zero byte"):
        specroute.simulate("ar1\0")
    with pytest.raises(ValueError, match="expected one of"):
        specroute.methods("no such kind")
