"""Model files taken apart, changed and put together again with a right digest."""

import io
import json
import zipfile

from lincent.export.model_file import HEADER, TREE, _digest, pack_model


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(parts, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def repack(data, **members):
    """The archive with members replaced, and the digest made right again."""
    parts = unzip(data) | members
    header = json.loads(parts.pop(HEADER))
    header["digest"] = _digest(header, parts)
    return pack({HEADER: json.dumps(header).encode()} | parts, zipfile.ZIP_DEFLATED)


def unchecked(model):
    """The file of a model that lincent would refuse to store."""
    return pack_model(model)


def with_header(data, change):
    """The file with its description changed by a function."""
    header = json.loads(unzip(data)[HEADER])
    change(header)
    return repack(data, **{HEADER: json.dumps(header).encode()})


def with_tree(data, change):
    """The file with the tree of its model changed by a function."""
    tree = json.loads(unzip(data)[TREE])
    change(tree)
    return repack(data, **{TREE: json.dumps(tree).encode()})
