"""`<vault>/.obsidian-import/` as a reader sees it, and the store of texts a plan speaks of by digest.

A Plan holds digests, not texts: an archive of gigabytes becomes a plan of megabytes. The texts lie compressed in
memory up to a limit, then in an unnamed temporary file; `apply` writes the very same compressed bytes as objects.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from obsidian_import.config import SIDECAR
from obsidian_import.errors import UserError
from obsidian_import.files import Unsafe, digest, private_dir, read_regular, write_atomic
from obsidian_import.manifest import Manifest, decode

LEVEL = 1  # chat text: within a fifth of level 6's size at a third of its time
MEMORY = 24 * 2**20  # bytes of compressed texts kept in memory before they spill


def manifest_dir(vault: Path) -> Path:
    """Where the machines' manifests lie."""
    return vault / SIDECAR / "manifest"


def object_path(vault: Path, name: str) -> Path:
    """Where the text with this digest lies."""
    return vault / SIDECAR / "objects" / name[:2] / name


def manifest_files(vault: Path) -> Iterator[tuple[str, bytes]]:
    """(file name, bytes) of every machine's manifest, sorted; conflict copies of a sync service included."""
    try:
        names = sorted(e.name for e in os.scandir(manifest_dir(vault)) if e.name.endswith(".jsonl"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"cannot read the manifest folder {manifest_dir(vault)}: {error}") from error
    for name in names:
        path = manifest_dir(vault) / name
        try:
            data = read_regular(path)
        except OSError as error:
            raise UserError(f"cannot read the manifest {path}: {error}", "nothing was changed") from error
        if data is not None:
            yield name, data


def load_manifest(vault: Path) -> Manifest:
    """The union of all machines' manifests."""
    return decode(manifest_files(vault))


def machine_id(data: Path) -> str:
    """The random name of this machine, made once in the user's data folder (never the host's name)."""
    try:
        private_dir(data)
    except Unsafe as error:
        raise UserError(str(error), "obsidian-import keeps copies of your originals there") from error
    path = data / "machine"
    known = read_regular(path)
    if known and (name := known.decode("ascii", "ignore").strip()):
        return name
    name = secrets.token_hex(4)
    try:
        write_atomic(path, f"{name}\n".encode())
    except OSError as error:
        raise UserError(f"cannot write to {data}: {error.strerror or error}", "nothing was changed") from error
    return name


class Texts:
    """Bytes by digest: those of this plan, and behind them the objects of the vault's sidecar."""

    def __init__(self, vault: Path, memory: int = MEMORY) -> None:
        self._vault = vault
        self._memory = memory
        self._held = 0
        self._packed: dict[str, bytes] = {}
        self._spilled: dict[str, tuple[int, int]] = {}
        self._spill: IO[bytes] | None = None

    def put(self, data: bytes) -> str:
        """Keep these bytes; their digest."""
        name = digest(data)
        if name not in self._packed and name not in self._spilled:
            packed = zlib.compress(data, LEVEL)
            if self._held + len(packed) > self._memory:
                self._spill = self._spill or tempfile.TemporaryFile(prefix="obsidian-import-")  # noqa: SIM115 (lives as long as the plan)
                place = self._spill.seek(0, os.SEEK_END)
                self._spill.write(packed)
                self._spilled[name] = (place, len(packed))
            else:
                self._held += len(packed)
                self._packed[name] = packed
        return name

    def packed(self, name: str) -> bytes | None:
        """The compressed bytes of a text of this plan, None for one that is only known to the sidecar."""
        if name in self._packed:
            return self._packed[name]
        if name in self._spilled and self._spill:
            place, size = self._spilled[name]
            self._spill.seek(place)
            return self._spill.read(size)
        return None

    def get(self, name: str) -> bytes | None:
        """The bytes with this digest; None where they are lost or damaged (then nothing is merged with them)."""
        packed = self.packed(name)
        if packed is None:
            try:
                packed = read_regular(object_path(self._vault, name))
            except OSError:
                return None
        if packed is None:
            return None
        try:
            data = zlib.decompress(packed)
        except zlib.error:
            return None
        return data if digest(data) == name else None

    def text(self, name: str | None) -> str | None:
        """The text with this digest; bytes that are no UTF-8 come as lone surrogates and go back as they were."""
        data = self.get(name) if name else None
        return None if data is None else data.decode("utf-8", "surrogateescape")
