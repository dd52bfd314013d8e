"""Answers, for each document, what cloud-init makes of it.

In comes a line with what is asked and the document in base64, out goes a line of JSON.

Arguments: the paths that count. Nothing is written: cloud-init's own functions for that are replaced.
"""
import base64
import json
import logging
import os
import re
import sys

import yaml
from cloudinit import handlers, safeyaml, user_data, util
from cloudinit.config import cc_write_files, cc_write_files_deferred
from cloudinit.handlers import cloud_config

PLACES = set(sys.argv[1:])

# What has write_files; a template as it is before it is rendered.
CONFIGS = ("text/cloud-config", "text/jinja2")

TEXT = "tag:yaml.org,2002:str"
FIELDS = ("path", "encoding", "content", "owner", "append", "defer")


class Cloud:
    class distro:
        default_owner = "root:root"


class Disk:
    """What was written, by path."""

    def __init__(self):
        self.files = {}

    def write(self, path, content, omode="wb", mode=0o644, **_):
        content = util.encode_text(content)
        path = normal(path)
        before = self.files.get(path, b"") if omode == "ab" else b""
        self.files[path] = before + content


def normal(path):
    path = os.path.abspath(os.fsdecode(path))
    return path[1:] if path.startswith("//") else path  # two slashes are one to Linux


def load(data):
    """The document, and why there is none."""
    try:
        config = util.load_yaml(data)
    except Exception as e:  # it lets some through
        return None, type(e).__name__
    if config is not None:
        return config, ""
    try:
        loaded = safeyaml.load(util.decode_binary(data))
        return None, "Empty" if loaded is None else "NoMapping"
    except Exception as e:
        return None, type(e).__name__


def second_opinion(data):
    """The document as libyaml reads it, or else PyYAML, and of that only what is said of files; None if there is none.

    libyaml allows what PyYAML's own scanner does not, and what is beside that may be what Python cannot make. A byte
    order mark before a name is part of it to PyYAML, and an error to libyaml. An entry that it cannot make is left out.
    White space before the document, on blank lines and before comments is no matter.
    """
    text = util.decode_binary(data).lstrip()
    # A tab before a comment comes first: without a tab it may be a line of a text.
    for reader, space in [
        (yaml.CSafeLoader, None),
        (yaml.CSafeLoader, r" *\t[ \t]*(?=#)"),
        (yaml.CSafeLoader, r"[ \t]+(?=#)"),
        (yaml.CSafeLoader, r"[ \t]+(?=[#\r\n])"),
        (yaml.SafeLoader, None),
    ]:
        attempt = text if space is None else re.sub(r"(?<=[\r\n])" + space, "", text)
        try:
            loader = reader(attempt)
            (files,) = [v for k, v in loader.get_single_node().value if k.value == "write_files" and k.tag == TEXT]
            return {"write_files": [e for e in map(lambda n: entry_of(loader, n), files.value) if e is not None]}
        except Exception:
            pass
    return None


def entry_of(loader, node):
    """An entry without the fields that do not matter."""
    try:
        node.value = [(k, v) for k, v in node.value if k.value in FIELDS and k.tag == TEXT]
        return loader.construct_document(node)
    except Exception:
        return None


def modules(config, disk):
    """Runs both modules, in their order, and tells which failed."""
    util.write_file = disk.write
    failed = False
    for module in (cc_write_files, cc_write_files_deferred):
        try:
            module.handle("", config, Cloud, logging, [])
        except Exception:
            failed = True
    return failed


def at_place(entry):
    try:
        return normal(entry["path"]) in PLACES
    except Exception:
        return False


def one_by_one(config, answer):
    """The same where a module failed: each entry by itself, as if those that fail were not there."""
    entries = config.get("write_files")
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        answer["failed"] = "list"
        return {}
    disk = Disk()
    answer["failed"] = "elsewhere"
    for module in (cc_write_files, cc_write_files_deferred):
        util.write_file = disk.write
        for entry in entries:
            try:
                module.handle("", {"write_files": [entry]}, Cloud, logging, [])
            except Exception:
                if at_place(entry):
                    answer["failed"] = "place"
    return disk.files


def answer_to(data):
    answer = {"type": handlers.type_from_starts_with(data) or "", "load": "", "failed": "", "files": {}}
    data = data.removeprefix(b"\xef\xbb\xbf")  # behind which it knows nothing
    if (handlers.type_from_starts_with(data) or "") not in CONFIGS:
        return answer
    config, answer["load"] = load(data)
    if config is None:
        config = second_opinion(data)
    if config is None:
        return answer
    disk = Disk()
    files = disk.files
    if modules(config, disk):
        files = one_by_one(config, answer)
    answer["files"] = {p: encoded(c) for p, c in files.items() if p in PLACES}
    return answer


class Paths:
    """Where cloud-init would keep what it fetches, which it is not given."""

    @staticmethod
    def get_ipath_cur(_=None):
        return "/nonexistent"

    get_ipath = get_ipath_cur


def parts_of(data):
    """The parts of user data as cloud-init hands them to what is to deal with them."""
    try:
        processor = user_data.UserDataProcessor.__new__(user_data.UserDataProcessor)
        processor.paths, processor.ssl_details = Paths, {}
        parts = [p for p in processor.process(data).walk() if p.get_content_maintype() != "multipart"]
        return {"parts": [{"type": p.get_content_type(), "body": encoded(util.fully_decoded_payload(p))} for p in parts]}
    except Exception as e:
        return {"load": type(e).__name__}


def merged(data):
    """The parts of user data with their names, and what all its cloud-configs are together."""
    processor = user_data.UserDataProcessor.__new__(user_data.UserDataProcessor)
    processor.paths, processor.ssl_details = Paths, {}
    handler = cloud_config.CloudConfigPartHandler(Paths)
    answer = {"parts": []}

    def part(_, name, body, headers):
        kind = headers["Content-Type"]
        answer["parts"].append({"type": kind, "name": name, "body": encoded(body)})
        if kind == "text/cloud-config":
            handler.handle_part(None, kind, name, body, None, headers)

    handlers.walk(processor.process(data), part, None)
    return answer | {"merged": handler.cloud_buf}


def encoded(content):
    return base64.b64encode(util.encode_text(content or "")).decode()


def main():
    os.chdir("/")  # where it runs on a node
    logging.disable(logging.CRITICAL)
    util.chownbyname = lambda *_: None
    for line in sys.stdin:
        question, _, document = line.partition(" ")
        answer = {"config": answer_to, "parts": parts_of, "merged": merged}[question](base64.b64decode(document))
        print(json.dumps(answer), flush=True)


main()
