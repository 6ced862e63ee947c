"""What hostile code inside a worker cannot do, however it tries to switch the guard off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import passband.system.processes.guard as guard
import passband.system.processes.launch as launch

pytestmark = pytest.mark.process

LOCKED = """
import builtins, gc, importlib, os, signal, socket, subprocess, shutil, sys, threading, types
import _imp, _posixsubprocess
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
import passband.system.processes.guard as guard
parent, spawn, popen = os.getppid(), os.posix_spawn, subprocess.Popen
extension = getattr(PathFinder.find_spec("_ctypes"), "origin", None)
guard.limit_resources()
guard.hide_ctypes()
guard.lock_down()
def loaded(name):
    return _imp.create_dynamic(ModuleSpec(name, None, origin=extension))
def classes(kind):
    for one in type.__subclasses__(kind):
        yield one
        yield from classes(one)
class Lying(str):
    def startswith(self, *prefixes): return True
    def __str__(self): return sys.path[0] + "/os.py"
    __fspath__ = __str__
def refused(attempt):
    try:
        attempt()
    except Exception:
        return True
    return False
{before}
attempts = [
{attempts}
]
for number, attempt in enumerate(attempts):
    assert refused(attempt), number
print("refused", len(attempts))
"""

ATTEMPTS = r"""
    lambda: os.system("echo no"),
    lambda: subprocess.run(["echo", "no"]),
    lambda: popen(["echo", "no"]),
    lambda: os.execv("/bin/echo", ["echo", "no"]),
    lambda: os.fork(),
    lambda: os.forkpty(),
    lambda: spawn("/bin/echo", ["echo", "no"], {}),
    lambda: _posixsubprocess.fork_exec([b"/bin/echo"], [b"/bin/echo"], *[None] * 21),
    lambda: __import__("multiprocessing"),
    lambda: __import__("asyncio").run(__import__("asyncio").create_subprocess_exec("echo")),
    lambda: socket.socket(),
    lambda: socket.create_connection(("127.0.0.1", 9)),
    lambda: socket.socketpair(),
    lambda: open("/tmp/passband-written", "w"),
    lambda: open("/tmp/passband-written", "a"),
    lambda: os.open("/tmp/passband-written", os.O_CREAT | os.O_WRONLY),
    lambda: os.open("/", os.O_RDWR | getattr(os, "O_TMPFILE", 0)),
    lambda: os.mkdir("/tmp/passband-written"),
    lambda: os.symlink("/proc", sys.path[0] + "/link"),
    lambda: os.mkfifo("/tmp/passband-written"),
    lambda: shutil.rmtree("/anything"),
    lambda: os.remove("/anything"),
    lambda: os.rename("/anything", "/else"),
    lambda: os.chmod("/anything", 0),
    lambda: os.chdir("/proc"),
    lambda: os.kill(parent, 0),
    lambda: os.killpg(0, 0),
    lambda: signal.pthread_kill(threading.main_thread().ident, 0),
    lambda: signal.pidfd_send_signal(os.pidfd_open(parent), 0),
    lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
    lambda: __import__("resource").prlimit(parent, 7, (1, 1)),
    lambda: open(f"/proc/{parent}/environ").read(),
    lambda: open("/proc/self/environ").read(),
    lambda: open(b"/proc/self/environ").read(),
    lambda: open("/proc/self/mem", "r+b"),
    lambda: open(sys.path[0] + "/../../../../../../../proc/self/environ").read(),
    lambda: open("proc/self/environ").read(),
    lambda: open(Lying("/proc/self/environ")).read(),
    lambda: os.open("proc/self/environ", os.O_RDONLY, dir_fd=os.open("/", os.O_RDONLY)),
    lambda: open("/etc/passwd").read(),
    lambda: open(os.path.expanduser("~/.ssh/id_rsa")).read(),
    lambda: __import__("ctypes"),
    lambda: __import__("_ctypes"),
    lambda: sys.modules.pop("_ctypes", None) or importlib.import_module("_ctypes"),
    lambda: sys.modules.pop("_ctypes", None) or __import__("_ctypes"),
    lambda: sys.modules.pop("ctypes", None) or importlib.import_module("ctypes").CDLL(None),
    lambda: loaded("_ctypes"),
    lambda: loaded("x._ctypes"),
    lambda: loaded("x"),
    lambda: ExtensionFileLoader("x._ctypes", extension).load_module(),
    lambda: next(one for one in classes(object) if one.__module__ in ("_ctypes", "ctypes")),
    lambda: next(one for one in classes(object) if one.__name__ in ("CFuncPtr", "_SimpleCData")),
    lambda: __import__("_testcapi"),
    lambda: __import__("numpy"),
    lambda: __import__("sqlite3"),
    lambda: __import__("importlib").import_module("_posixsubprocess") and None.fork_exec,
    lambda: __import__("_imp").create_builtin,
    lambda: __import__("_imp").create_dynamic(types.SimpleNamespace(name="x", origin="/tmp/x.so")),
    lambda: gc.get_objects(),
    lambda: gc.get_referrers(guard.audit_hook),
    lambda: sys.settrace(print),
    lambda: sys.setprofile(print),
    lambda: setattr(refused, "__code__", (lambda attempt: True).__code__),
"""

TAMPERING = {
    "nothing": "",
    "globals of the guard": """
for name in [name for name in vars(guard) if name.startswith("_") and name.isupper()]:
    setattr(guard, name, type(getattr(guard, name))())
sys.dont_write_bytecode = False
guard.audit_hook = guard.lock_down = None
""",
    "builtins": """
true_open, true_import = open, __import__
builtins.frozenset = builtins.isinstance = builtins.tuple = lambda *_: False
builtins.str = builtins.any = builtins.getattr = lambda *_: ""
builtins.PermissionError = OSError
""",
    "frames of the hook": """
try:
    os.system("true")
except PermissionError as error:
    frame = error.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    variables = frame.tb_frame.f_locals
    for name in list(variables):
        try:
            variables[name] = type(variables[name])()
        except Exception:
            pass
""",
    "an argument that runs code": """
class Evil:
    def __and__(self, other):
        caller = sys._getframe(1)
        caller.f_locals.update(refused=frozenset(), families=("nothing",), is_refused=False)
        return 0
    __rand__ = __and__
try:
    sys.audit("open", sys.path[0] + "/x", "r", Evil())
except Exception:
    pass
""",
}


def run(program: str, *, confined: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        launch.confined(command) if confined else command,
        env=os.environ | {"PYTHONPATH": str(Path(guard.__file__).parents[3])},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("tampering", TAMPERING)
def test_the_guard_cannot_be_switched_off(tampering: str) -> None:
    program = LOCKED.replace("{before}", TAMPERING[tampering]).replace("{attempts}", ATTEMPTS)
    done = run(program)
    expected = sum(line.startswith("    lambda") for line in ATTEMPTS.splitlines())
    assert done.stdout == f"refused {expected}\n", done.stderr
    assert not Path("/tmp/passband-written").exists()


ORDINARY = """
import sys
import passband.system.processes.guard as guard
guard.limit_resources()
guard.lock_down()
import colorsys, xml.dom.minidom, zoneinfo, decimal, fractions, difflib
assert open(colorsys.__file__).read()
try:
    bytearray(guard.MEMORY)
except MemoryError:
    print("imports and memory as they should be")
"""


@pytest.mark.parametrize("confined", [True, False])
def test_imports_still_work_and_memory_is_limited(confined: bool) -> None:
    done = run(ORDINARY, confined=confined)
    assert done.stdout == "imports and memory as they should be\n", done.stderr


def test_an_interpreter_that_has_loaded_ctypes_is_not_locked() -> None:
    done = run("import ctypes, passband.system.processes.guard as guard; guard.lock_down()")
    assert "RuntimeError: ctypes is loaded" in done.stderr


STAND_IN = """
import struct
import passband.system.processes.guard as guard
guard.hide_ctypes()
from ctypes import c_long, sizeof
print(sizeof(c_long) == struct.calcsize("l"))
for attempt in ("from ctypes import CDLL", "import _ctypes", "import _cffi_backend"):
    try:
        exec(attempt)
    except ImportError:
        print("no")
"""


def test_without_ctypes_the_size_of_a_number_is_still_known() -> None:
    assert run(STAND_IN).stdout == "True\nno\nno\nno\n"
