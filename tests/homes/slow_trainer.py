"""A trainer that computes a share of the time: slow_trainer.py SHARE TRAINER [ARGUMENTS]

A small model on this computer trains hundreds of steps in a window in which a home trains a few steps of a large one. What
a swarm is worth depends on steps a round, so homes that are to be measured with few of them train that much less. This
stands between node and trainer and gives the share wherever the node says how much of the time to train; the node has to
say it, which it does with `--effort balanced`.
"""
import re
import subprocess
import sys


def main():
    share, trainer = sys.argv[1], subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
    given = f'"share":{share}'.encode()
    for line in sys.stdin.buffer:
        try:
            trainer.stdin.write(re.sub(rb'"share":[0-9.]+', given, line))
            trainer.stdin.flush()
        except BrokenPipeError:
            break
    trainer.stdin.close()
    return trainer.wait()


def write_launcher(file, share, trainer):
    """A program in `file` that a node starts as its trainer."""
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {share} "{trainer}" "$@"\n', encoding="utf-8")
    file.chmod(0o755)
    return file


if __name__ == "__main__":
    sys.exit(main())
