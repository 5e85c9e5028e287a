"""loadable.py, with the smallest programs that it takes, made here, and one fault in each."""
import hashlib
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import loadable
import stubs

ROOT = Path(loadable.__file__).parent


def mach(machine=0x0100000C, kind=2, flags=0x200085, oldest=11 << 16, libraries=("/usr/lib/libSystem.B.dylib",), undefined=(("_puts", 1),), changed=False):
    """A program of macOS: its commands, two pages of nothing, its names, and a signature."""
    commands = [struct.pack("<6I", 0x32, 24, 1, oldest, 15 << 16, 0)]
    for name in libraries:
        path = name.encode() + b"\0" * (8 - len(name) % 8)
        commands.append(struct.pack("<6I", 0xC, 24 + len(path), 24, 0, 0, 0) + path)
    before = 32 + sum(map(len, commands)) + 24 + 16
    symbols = before + 2 * 4096
    names, entries = b"\0", b""
    for name, library in undefined:
        entries += struct.pack("<IBBHQ", len(names), 1, 0, library << 8, 0)
        names += name.encode() + b"\0"
    # One that the program defines, and one of a debugger.
    entries += struct.pack("<IBBHQ", 0, 0x0F, 1, 0, 0) + struct.pack("<IBBHQ", 0, 0x64, 1, 0, 0)
    strings = symbols + len(entries)
    signed = strings + len(names)
    commands.append(struct.pack("<6I", 0x2, 24, symbols, len(entries) // 16, strings, len(names)))
    commands.append(struct.pack("<4I", 0x1D, 16, signed, 0))
    head = struct.pack("<8I", 0xFEEDFACF, machine, 0, kind, len(commands), sum(map(len, commands)), flags, 0)
    program = head + b"".join(commands) + bytes(2 * 4096) + entries + names
    sums = b"".join(hashlib.sha256(program[at : at + 4096]).digest() for at in range(0, len(program), 4096))
    directory = struct.pack(">9I4B", 0xFADE0C02, 0, 0x20400, 2, 40, 0, 0, len(sums) // 32, signed, 32, 2, 0, 12) + sums
    signature = struct.pack(">3I2I", 0xFADE0CC0, 0, 1, 0, 20) + directory
    if changed:
        program = program[:5000] + b"!" + program[5001:]
    return program + signature


def portable(machine=0x8664, time=0, magic=0x20B, console=3, debug=0, modules=("KERNEL32.dll",)):
    """A program of Windows with one section, in which are the modules that it needs."""
    table, names = b"", b""
    start = 0x1000 + 20 * (len(modules) + 1)
    for name in modules:
        table += struct.pack("<5I", 0, 0, 0, start + len(names), 0)
        names += name.encode() + b"\0"
    section = table + bytes(20) + names
    directories = [(0, 0), (0x1000, len(section)), *[(0, 0)] * 4, (0x1000 if debug else 0, debug), *[(0, 0)] * 9]
    optional = struct.pack("<H", magic) + bytes(66) + struct.pack("<H", console) + bytes(42) + b"".join(struct.pack("<2I", *it) for it in directories)
    head = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<2H3I2H", machine, 1, time, 0, 0, len(optional), 0) + optional
    at = len(head) + 40
    return head + b".idata\0\0" + struct.pack("<4I", len(section), 0x1000, len(section), at) + bytes(16) + section


class Macos(unittest.TestCase):
    def found(self, platform="darwin-arm64", **fault):
        return loadable.faults(platform, mach(**fault))

    def test_one_that_macos_loads(self):
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found("darwin-amd64", machine=0x01000007), [])
        self.assertEqual(self.found(libraries=sorted(loadable.LIBRARIES), undefined=[("_CFRelease", 1), ("_iconv", 5)]), [])

    def test_each_fault(self):
        newer = ", which not every macOS has"
        for fault, said in (
            ({"machine": 0x01000007}, "is for machine 0x1000007"),
            ({"kind": 6}, "is no program that macOS may load at any address"),
            ({"flags": 0x85}, "is no program that macOS may load at any address"),
            ({"oldest": 15 << 16}, "says that macOS (15, 0) is the oldest it runs on"),
            ({"libraries": ["/usr/lib/libSystem.B.dylib", "/opt/homebrew/lib/libz.dylib"]}, f"needs /opt/homebrew/lib/libz.dylib{newer}"),
            ({"undefined": [("_puts", loadable.MachO.DYNAMIC)]}, "needs _puts of no library"),
            ({"undefined": [("_puts", 2)]}, "needs _puts of no library"),
            ({"changed": True}, "has a signature with another sum of page 1"),
        ):
            with self.subTest(**fault):
                self.assertEqual(self.found(**fault), [said])

    def test_one_without_a_signature(self):
        for platform, machine, said in (("darwin-arm64", 0x0100000C, ["has no signature"]), ("darwin-amd64", 0x01000007, [])):
            program = mach(machine=machine)
            at = next(at for command, at in loadable.MachO(program).commands if command == 0x1D)
            without = program[:at] + struct.pack("<I", 0x26) + program[at + 4 :]
            self.assertEqual(loadable.faults(platform, without), said)

    def test_the_compiler_is_told_the_oldest_macos(self):
        told = re.search(r"MACOSX_DEPLOYMENT_TARGET=(\d+)\.(\d+)", (ROOT / "plugins.sh").read_text())
        self.assertEqual(tuple(map(int, told.groups())), loadable.OLDEST)


class Windows(unittest.TestCase):
    def found(self, **fault):
        return loadable.faults("windows-amd64", portable(**fault))

    def test_one_that_windows_loads(self):
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found(modules=["ntdll.dll", "WS2_32.dll", "api-ms-win-crt-heap-l1-1-0.dll"]), [])

    def test_each_fault(self):
        for fault, said in (
            ({"machine": 0xAA64}, "is for machine 0xaa64"),
            ({"time": 1_700_000_000}, "says when it was linked (1700000000)"),
            ({"magic": 0x10B}, "is no program of 64 bits"),
            ({"console": 2}, "is no program of a console"),
            ({"debug": 28}, "has a table for debuggers, which names folders of the machine that linked it"),
            ({"modules": ["libgcc_s_seh-1.dll"]}, "needs libgcc_s_seh-1.dll, which not every Windows 10 has"),
        ):
            with self.subTest(**fault):
                self.assertEqual(self.found(**fault), [said])


class Anything(unittest.TestCase):
    def test_what_is_no_program(self):
        self.assertEqual(loadable.faults("darwin-arm64", b"\x7fELF" + bytes(60)), ["is no Mach-O file of 64 bits"])
        self.assertEqual(loadable.faults("windows-amd64", b"\x7fELF" + bytes(60)), ["is no program of Windows"])
        self.assertEqual(len(loadable.faults("darwin-arm64", mach()[:300])), 1, "cut off")

    def test_the_command_fails_where_a_program_does(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kubectl-sluice")
            for data, code in ((mach(), 0), (mach(kind=6), 1)):
                path.write_bytes(data)
                ran = subprocess.run([ROOT / "loadable.py", "darwin-arm64", path], capture_output=True, text=True)
                self.assertEqual(ran.returncode, code, ran.stderr)


class Stubs(unittest.TestCase):
    def test_a_framework_has_its_names_and_those_are_sorted(self):
        for path, text in stubs.stubs():
            framework = path.split(".")[0]
            self.assertIn(f"/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}", loadable.LIBRARIES)
            self.assertIn(f"install-name: '/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}'", text)
            names = stubs.FRAMEWORKS[framework].split()
            self.assertEqual(names, sorted(set(names), key=lambda name: (name.startswith("k"), name)))
            self.assertTrue(all(f"_{name}" in text for name in names))


if __name__ == "__main__":
    unittest.main()
