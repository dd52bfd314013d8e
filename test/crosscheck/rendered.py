"""Has cloud-init lay a cloud-config down below a directory, and prints the commands that it would run, as JSON.

Arguments: the document, the directory. It ends with a message where cloud-init's own schema refuses the document. Only the
names of files are changed, and owners are left: that is for the superuser.
"""
import json
import os
import sys

from cloudinit import util
from cloudinit.config import cc_write_files, schema

document, root = sys.argv[1:]
with open(document, "rb") as f:
    data = f.read()
config = util.load_yaml(data)
schema.validate_cloudconfig_schema(config, schema.get_schema(), strict=True, log_details=False)

cc_write_files.util.chownbyname = lambda *_: None

files = [dict(entry, path=root + os.path.abspath(entry["path"])) for entry in config["write_files"]]
cc_write_files.write_files(name="write_files", files=files, owner="root:root")
util.shellify(config["bootcmd"])
util.shellify(config["runcmd"])
print(json.dumps(config["runcmd"]))
