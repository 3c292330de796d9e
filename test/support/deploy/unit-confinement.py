"""Runs a program under the system calls that a systemd unit allows: systemd itself cannot be started in a test."""

import os
import re
import subprocess
import sys

import seccomp

EPERM = 1


def expanded(word):
    """Names of the calls that a word of SystemCallFilter= stands for."""
    if not word.startswith("@"):
        return {word}
    told = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True)
    words = [line.strip() for line in told.stdout.splitlines()[1:]]
    return {name for each in words if each and not each.startswith("#") for name in expanded(each)}


def main(unit, command):
    allowed, denied = expanded("@default"), set()
    with open(unit, encoding="utf-8") as lines:
        for line in lines:
            if found := re.match(r"SystemCallFilter=(~?)(.+)", line):
                (denied if found[1] else allowed).update(*(expanded(word) for word in found[2].split()))
    rules = seccomp.SyscallFilter(seccomp.ERRNO(EPERM))
    for name in sorted(allowed - denied):
        try:
            rules.add_rule(seccomp.ALLOW, name)
        except RuntimeError:
            pass  # a call of another architecture
    rules.load()
    os.execvp(command[0], command)


main(sys.argv[1], sys.argv[2:])
