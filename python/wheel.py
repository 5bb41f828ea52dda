"""Puts the graphmill command into the wheel, and sets the platform tag."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommandHook(BuildHookInterface):
    """The command is in bin/, and GRAPHMILL_WHEEL_TAG is the tag of its platform; make wheel provides both."""

    def initialize(self, version, build_data):
        command = os.path.join(self.root, "bin", "graphmill")
        tag = os.environ.get("GRAPHMILL_WHEEL_TAG")
        if version == "editable":
            return
        if not tag or not os.path.isfile(command):
            raise RuntimeError(f"{command}: found no command for a platform, expected both; run make wheel")
        build_data["pure_python"] = False
        build_data["tag"] = tag
        build_data["shared_scripts"] = {command: "graphmill"}
