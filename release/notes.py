"""The notes of a release: its section of the change log."""
import re


def cut(changelog, version):
    """The section `## VERSION`, or where there is none yet `## Unreleased`, without its title."""
    sections = re.split(r"^## (.*)\n", changelog, flags=re.MULTILINE)[1:]
    # A date may stand behind the version.
    by_title = {title.split()[0].strip("[]"): text for title, text in zip(sections[::2], sections[1::2])}
    for title in (version, "Unreleased"):
        if by_title.get(title, "").strip():
            return by_title[title].strip() + "\n"
    raise SystemExit(f"release: CHANGELOG.md has no section for {version}, and none for what is unreleased; write one of them")


def published(changelog, version, repository):
    """That section, for a page on which a path leads nowhere: its links are those of the tag."""
    return re.sub(r"\]\((?!\w+://)", f"]({repository}/blob/v{version}/", cut(changelog, version))
