"""Rules on how the folders depend on each other and on what the build knows."""

import re
from pathlib import PurePosixPath

from tree import Finding

# A folder of src/ may include what is below it, and itself. Folders beside each other may not.
HEIGHT = {
    "recovery": 1, "settings": 1,
    "tasks": 2, "exec": 2,
    "batches": 3, "http": 3, "transactions": 3,
    "results": 4, "engines": 4,
    "documents": 5,
    "server": 6, "traces": 6,
    "cli": 7,
}
# An engine may be built on another one, and say so here.
BUILT_ON = {
    "engines/sidekiq": "engines/redis",
    "engines/azure": "engines/objects", "engines/s3": "engines/objects",
    "engines/filesystem": "engines/objects",
}
ROOT_HEIGHT = 6  # src/*.cpp: the composition root, which knows all of the library

# The header of a database belongs to the engine for it, so that features stay free of it.
DATABASE_HEADERS = {
    "sqlite3.h": "sqlite", "sqlite3ext.h": "sqlite", "libpq-fe.h": "postgres",
    "hiredis/": "redis", "amqp": "rabbitmq",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def _home(path):
    """(folder, height) of a file or an include path below src/."""
    parts = PurePosixPath(path).parts
    if len(parts) == 1:
        return "", ROOT_HEIGHT
    height = HEIGHT.get(parts[0])
    return ("/".join(parts[:2]) if parts[0] == "engines" else parts[0]), height


def _includes(file):
    for line, match in file.matches(INCLUDE):
        yield line, match.group(1) == '"', match.group(2)


def include_direction(tree):
    for file in tree.code("include"):
        for line, quoted, path in _includes(file):
            if quoted:
                yield Finding(file.path, line, f'a public header includes "{path}"')
    for file in tree.code("src"):
        inside = file.path.removeprefix("src/")
        folder, height = _home(inside)
        if height is None:
            yield Finding(file.path, 1, f"folder {folder} has no place in the order of folders")
            continue
        for line, quoted, path in _includes(file):
            if not quoted or f"src/{path}" not in tree.by_path:
                continue
            other, other_height = _home(path)
            if other == folder or BUILT_ON.get(folder) == other:
                continue
            if other_height is None or other_height >= height:
                yield Finding(file.path, line, f"{folder or 'src'} must not know {other or path}")


def database_headers(tree):
    for file in tree.code("src", "include"):
        for line, _, path in _includes(file):
            for header, engine in DATABASE_HEADERS.items():
                if path.startswith(header) and not file.path.startswith(f"src/engines/{engine}/"):
                    yield Finding(file.path, line, f"<{path}> belongs to src/engines/{engine}")


def unlisted_sources(tree):
    """A source that no CMakeLists.txt at or above it names is not built by anybody."""
    for file in tree.code("src", "tests", "bench", "examples"):
        if file.suffix != ".cpp":
            continue
        path = PurePosixPath(file.path)
        if not any(_names(tree, folder, path.relative_to(folder)) for folder in path.parents):
            yield Finding(file.path, 1, "no CMakeLists.txt lists it")


def _names(tree, folder, relative):
    """Whether the CMakeLists.txt of the folder, or of a folder in it, names the file."""
    for file in tree.files:
        listing = PurePosixPath(file.path)
        if listing.name != "CMakeLists.txt":
            continue
        if listing.parent == folder:
            wanted = str(relative)
        elif listing.parent.parent == folder and len(relative.parts) == 1:
            wanted = f"../{relative}"
        else:
            continue
        if re.search(rf"(?<![\w./-]){re.escape(wanted)}(?![\w.-])", file.text):
            return True
    return False


RULES = [include_direction, database_headers, unlisted_sources]
