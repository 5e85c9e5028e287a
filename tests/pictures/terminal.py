"""Records a command in a terminal, and draws the recording as an SVG that moves."""

import fcntl
import html
import os
import pty
import re
import select
import struct
import termios
import time

COLUMNS, ROWS = 104, 24
LETTER, LINE, EDGE = 7.8, 19, 16
COLOURS = {31: "#ff7d7d", 32: "#4bd187", 33: "#f4b740", 34: "#6cb0ff", 35: "#ec82f7", 36: "#5ccfe6", 90: "#98a4b8"}
CODE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")
# What nothing changes for longer than this is cut out of the recording.
PAUSE, LAST = 2.0, 5.0


def record(command, limit=300):
    """The output of a command, as pairs of seconds since its start and text."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color")
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    begin, told = time.monotonic(), []
    while time.monotonic() - begin < limit:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            text = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        told.append((time.monotonic() - begin, text.decode(errors="replace")))
    os.close(terminal)
    os.waitpid(child, 0)
    return told


class Screen:
    """As much of a terminal as `kubectl sluice status --watch` needs: lines of spans `(text, style)`."""

    def __init__(self):
        self.lines, self.row, self.style = [[]], 0, ()

    def write(self, text):
        at = 0
        for code in CODE.finditer(text):
            self._plain(text[at : code.start()])
            self._code(code[1], code[2])
            at = code.end()
        self._plain(text[at:])

    def _plain(self, text):
        for part in re.split(r"(\n)", text.replace("\r", "")):
            if part == "\n":
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append([])
            elif part:
                self.lines[self.row].append((part, self.style))

    def _code(self, numbers, letter):
        if letter == "F":  # up, to the beginning of the line
            self.row = max(0, self.row - int(numbers or 1))
        elif letter == "J":  # all below goes
            del self.lines[self.row :]
            self.lines.append([])
        elif letter == "m":
            for number in (int(it or 0) for it in numbers.split(";")):
                self.style = () if number == 0 else (*self.style, number)

    def frame(self):
        shown = [tuple(line) for line in self.lines]
        while shown and not shown[-1]:
            shown.pop()
        return tuple(shown[-ROWS:])


def frames(told):
    """What the screen shows, as pairs of seconds and frame, without pauses."""
    screen, found, clock, before = Screen(), [], 0.0, 0.0
    for at, text in told:
        screen.write(text)
        clock += min(at - before, PAUSE)
        before = at
        frame = screen.frame()
        # Between the two halves of a write the screen is not whole.
        if found and clock - found[-1][0] < 0.05:
            found[-1] = (found[-1][0], frame)
        elif not found or found[-1][1] != frame:
            found.append((clock, frame))
    return [it for it in found if it[1]]


def _span(text, style):
    fill = next((COLOURS[it] for it in style if it in COLOURS), None)
    if 2 in style:
        fill = fill or COLOURS[90]
    attributes = (f' fill="{fill}"' if fill else "") + (' font-weight="700"' if 1 in style else "")
    text = html.escape(text, quote=False)
    return f"<tspan{attributes}>{text}</tspan>" if attributes else text


def svg(title, told):
    """The recording as a drawing. Each line stands in it once, each frame is a list of lines."""
    shown = frames(told)
    whole = shown[-1][0] - shown[0][0] + LAST
    tall = max(len(frame) for _, frame in shown)
    width, height = COLUMNS * LETTER + 2 * EDGE, (tall + 1.6) * LINE + 2 * EDGE + 24
    ids, drawn, style = {}, [], []
    for number, (at, frame) in enumerate(shown):
        begin = (at - shown[0][0]) / whole * 100
        end = (shown[number + 1][0] - shown[0][0]) / whole * 100 if number + 1 < len(shown) else 100
        steps = [f"0%{{visibility:{'visible' if number == 0 else 'hidden'}}}"]
        if number:
            steps.append(f"{begin:.3f}%{{visibility:visible}}")
        if end < 100:
            steps.append(f"{end:.3f}%{{visibility:hidden}}")
        style.append(f"@keyframes f{number}{{{''.join(steps)}}}#f{number}{{animation-name:f{number}}}")
        lines = [
            f'<use href="#l{ids.setdefault(line, len(ids))}" y="{row * LINE}"/>' for row, line in enumerate(frame) if line
        ]
        last = ' class="last"' if number + 1 == len(shown) else ""
        drawn.append(f'<g id="f{number}"{last}>{"".join(lines)}</g>')
    texts = [f'<text id="l{number}">{"".join(_span(*it) for it in line)}</text>' for line, number in ids.items()]
    top = EDGE + 24 + LINE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img">',
            f"<title>{html.escape(title)}</title>",
            "<style>",
            "text{font:13px ui-monospace,'SF Mono',Menlo,'Liberation Mono','DejaVu Sans Mono',monospace;white-space:pre;fill:#e7ebf3}",
            f"g[id]{{visibility:hidden;animation:{whole:.2f}s step-end infinite}}",
            *style,
            "@media(prefers-reduced-motion:reduce){g[id]{animation:none!important}g.last{visibility:visible}}",
            "</style>",
            f"<defs>{''.join(texts)}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#161b24"/>',
            *(f'<circle cx="{20 + 18 * at}" cy="20" r="5.5" fill="{fill}"/>' for at, fill in enumerate(("#ff7d7d", "#f4b740", "#4bd187"))),
            f'<text x="{EDGE}" y="{top}"><tspan fill="#98a4b8">$ </tspan>{html.escape(title)}</text>',
            f'<svg x="{EDGE}" y="{top + 0.4 * LINE:.1f}" overflow="visible"><g transform="translate(0 {LINE})">',
            *drawn,
            "</g></svg>",
            "</svg>",
            "",
        ]
    )
