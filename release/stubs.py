#!/usr/bin/env python3
"""stubs.py FOLDER   the names that kubectl-sluice takes from two frameworks of macOS, as files that a linker reads: a framework a folder.

A linker asks a library for its names alone, and the code comes from the Mac that runs the program. Apple's own list of names is part of
its SDK, which Linux has not; the names of the C library come with the compiler. `make release` calls it. Where the program asks for one
more, the linker says `undefined symbol: _NAME`, and NAME goes into the list.
"""
import sys
from pathlib import Path

# The crates core-foundation and security-framework call these, through which rustls asks macOS which certificates it trusts.
FRAMEWORKS = {
    "CoreFoundation": """
        CFArrayCreate CFDataCreate CFDateCreate CFErrorCopyDescription CFErrorGetCode CFRelease CFStringCreateWithBytes CFStringGetBytes
        CFStringGetCStringPtr CFStringGetLength kCFAbsoluteTimeIntervalSince1970 kCFAllocatorDefault kCFTypeArrayCallBacks
    """,
    "Security": """
        SecCertificateCopySubjectSummary SecCertificateCreateWithData SecCopyErrorMessageString SecPolicyCreateSSL
        SecTrustCreateWithCertificates SecTrustEvaluateWithError SecTrustSetAnchorCertificates SecTrustSetAnchorCertificatesOnly
        SecTrustSetOCSPResponse SecTrustSetVerifyDate
    """,
}

STUB = """\
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ {symbols} ]
...
"""


def stubs():
    """Path within the folder, and the text."""
    for framework, names in FRAMEWORKS.items():
        symbols = ", ".join(f"_{name}" for name in names.split())
        yield f"{framework}.framework/{framework}.tbd", STUB.format(framework=framework, symbols=symbols)


def main(folder):
    for path, text in stubs():
        file = Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        # An older file is kept, so that nothing is linked anew for it.
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
