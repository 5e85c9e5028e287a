#!/usr/bin/env python3
"""loadable.py PLATFORM PROGRAM: reads a program for macOS or Windows as the loader of that system does, and fails where the loader
would refuse the program, or where a machine without developer tools would lack a library. PLATFORM: darwin-arm64, darwin-amd64 or
windows-amd64. No system but Linux runs where a release is made, so the format is what can be checked here.

Sources: <mach-o/loader.h> and <kern/cs_blobs.h> of macOS, "PE Format" of Windows' documentation.
"""
import hashlib
import struct
import sys
from pathlib import Path

# The oldest macOS that runs the program, as release/plugins.sh tells the compiler.
OLDEST = (11, 0)
# What every macOS and every Windows 10 has.
LIBRARIES = {
    "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
    "/System/Library/Frameworks/Security.framework/Versions/A/Security",
    "/usr/lib/libSystem.B.dylib",
    "/usr/lib/libcharset.1.dylib",
    "/usr/lib/libiconv.2.dylib",
}
MODULES = {
    "advapi32.dll", "api-ms-win-core-synch-l1-2-0.dll", "bcrypt.dll", "bcryptprimitives.dll", "crypt32.dll", "kernel32.dll", "ntdll.dll",
    "userenv.dll", "ws2_32.dll",
}
# Its C library is one module by many names.
C_LIBRARY = "api-ms-win-crt-"


def text(data, at):
    return data[at : data.index(b"\0", at)].decode()


class MachO:
    """A program of macOS."""

    MACHINES = {"darwin-amd64": 0x01000007, "darwin-arm64": 0x0100000C}
    EXECUTE, TWOLEVEL, PIE = 2, 0x80, 0x200000
    SYMTAB, CODE_SIGNATURE, BUILD_VERSION = 0x2, 0x1D, 0x32
    # A library that is needed, wanted, given on to others, or loaded late.
    LOADS = (0xC, 0x80000018, 0x8000001F, 0x23)
    # Where a name is looked for without naming a library.
    DYNAMIC = 0xFE

    def __init__(self, data):
        self.data = data
        magic, self.machine, _, self.kind, count, _, self.flags, _ = struct.unpack_from("<8I", data)
        if magic != 0xFEEDFACF:
            raise ValueError("is no Mach-O file of 64 bits")
        self.commands, at = [], 32
        for _ in range(count):
            command, size = struct.unpack_from("<2I", data, at)
            self.commands.append((command, at))
            at += size

    def of(self, *kinds):
        return [at for command, at in self.commands if command in kinds]

    def libraries(self):
        return [text(self.data, at + struct.unpack_from("<I", self.data, at + 8)[0]) for at in self.of(*self.LOADS)]

    def undefined(self):
        """Each name that the program does not define, with the number of its library, from one."""
        for at in self.of(self.SYMTAB):
            symbols, count, strings = struct.unpack_from("<3I", self.data, at + 8)
            for number in range(count):
                name, kind, _, described, _ = struct.unpack_from("<IBBHQ", self.data, symbols + 16 * number)
                # No entry of a debugger, of the type "undefined", seen from outside.
                if not kind & 0xE0 and not kind & 0x0E and kind & 1:
                    yield text(self.data, strings + name), described >> 8

    def oldest(self):
        """The oldest macOS that the program says it runs on."""
        for at in self.of(self.BUILD_VERSION):
            platform, version = struct.unpack_from("<2I", self.data, at + 8)
            if platform == 1:
                return version >> 16, version >> 8 & 0xFF
        return None

    def signature(self):
        """Why the signature does not hold, or nothing. macOS ends a program at once whose pages have other sums than it says, and one for
        arm64 that says none."""
        found = self.of(self.CODE_SIGNATURE)
        if not found:
            return "has no signature" if self.machine == self.MACHINES["darwin-arm64"] else None
        start, _ = struct.unpack_from("<2I", self.data, found[0] + 8)
        magic, _, count = struct.unpack_from(">3I", self.data, start)
        blobs = dict(struct.unpack_from(">2I", self.data, start + 12 + 8 * number) for number in range(count))
        if magic != 0xFADE0CC0 or 0 not in blobs:
            return "has a signature without sums"
        at = start + blobs[0]
        _, _, _, _, sums, _, _, pages, limit, size, kind, _, shift = struct.unpack_from(">9I4B", self.data, at)
        if (size, kind) != (32, 2) or limit != start:
            return "has a signature that is not of the whole program, by SHA-256"
        page = 1 << shift
        if pages != -(-limit // page):
            return "has a signature of another length"
        for number in range(pages):
            wanted = self.data[at + sums + 32 * number :][:32]
            if hashlib.sha256(self.data[number * page : min(limit, (number + 1) * page)]).digest() != wanted:
                return f"has a signature with another sum of page {number}"
        return None

    def faults(self, platform):
        if self.machine != self.MACHINES[platform]:
            yield f"is for machine {self.machine:#x}"
        if self.kind != self.EXECUTE or self.flags & (self.TWOLEVEL | self.PIE) != self.TWOLEVEL | self.PIE:
            yield "is no program that macOS may load at any address"
        if self.oldest() != OLDEST:
            yield f"says that macOS {self.oldest()} is the oldest it runs on"
        libraries = self.libraries()
        for name in sorted(set(libraries) - LIBRARIES):
            yield f"needs {name}, which not every macOS has"
        for name, library in self.undefined():
            if not 1 <= library <= len(libraries):
                yield f"needs {name} of no library"
        if wrong := self.signature():
            yield wrong


class Portable:
    """A program of Windows."""

    MACHINES = {"windows-amd64": 0x8664}
    PLUS, CONSOLE = 0x20B, 3
    DEBUG, IMPORTS = 6, 1

    def __init__(self, data):
        self.data = data
        if data[:2] != b"MZ":
            raise ValueError("is no program of Windows")
        at = struct.unpack_from("<I", data, 0x3C)[0]
        if data[at : at + 4] != b"PE\0\0":
            raise ValueError("is no program of Windows")
        self.machine, sections, self.time, _, _, size, _ = struct.unpack_from("<2H3I2H", data, at + 4)
        self.optional = at + 24
        first = self.optional + size
        self.sections = [struct.unpack_from("<4I", data, first + 40 * number + 8) for number in range(sections)]

    def place(self, address):
        """Where in the file an address of the loaded program is."""
        for size, start, _, at in self.sections:
            if start <= address < start + size:
                return at + address - start
        raise ValueError(f"names address {address:#x}, which is in no section")

    def directory(self, number):
        """Address and size of a table, both 0 where there is none."""
        return struct.unpack_from("<2I", self.data, self.optional + 112 + 8 * number)

    def modules(self):
        address, _ = self.directory(self.IMPORTS)
        at, found = self.place(address), []
        while (entry := struct.unpack_from("<5I", self.data, at))[3]:
            found.append(text(self.data, self.place(entry[3])))
            at += 20
        return found

    def faults(self, platform):
        if self.machine != self.MACHINES[platform]:
            yield f"is for machine {self.machine:#x}"
        if struct.unpack_from("<H", self.data, self.optional)[0] != self.PLUS:
            yield "is no program of 64 bits"
        if struct.unpack_from("<H", self.data, self.optional + 68)[0] != self.CONSOLE:
            yield "is no program of a console"
        if self.time:
            yield f"says when it was linked ({self.time})"
        if self.directory(self.DEBUG)[1]:
            yield "has a table for debuggers, which names folders of the machine that linked it"
        for name in sorted(set(map(str.lower, self.modules())) - MODULES):
            if not name.startswith(C_LIBRARY):
                yield f"needs {name}, which not every Windows 10 has"


def faults(platform, data):
    """What is wrong with the bytes of a program, a sentence each without its subject."""
    read = MachO if platform in MachO.MACHINES else Portable
    try:
        return list(read(data).faults(platform))
    except (ValueError, struct.error) as error:
        return [str(error)]


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MachO.MACHINES | Portable.MACHINES:
        sys.exit(__doc__)
    wrong = faults(sys.argv[1], Path(sys.argv[2]).read_bytes())
    for each in wrong:
        print(f"release: {sys.argv[2]} {each}", file=sys.stderr)
    sys.exit(1 if wrong else 0)
