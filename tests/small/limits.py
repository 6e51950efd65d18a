"""What a small computer has, as limits of cgroups (either version): one core, little memory, a slow disk."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path("/sys/fs/cgroup")
NAME = "potluck-small"


def device_of(folder):
    """The number of the whole disk that `folder` lies on, as 254:0; None if it lies on none that can be slowed."""
    number = os.stat(folder).st_dev
    place = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not place.exists():
        return None
    whole = place.resolve().parent if (place / "partition").exists() else place.resolve()
    return (whole / "dev").read_text(encoding="ascii").strip()


def own_group(controller):
    """The group that this process is in, of a controller of version 1; of version 2 if that is empty."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path.lstrip("/")
    return ""


class Limits:
    """A group with `memory` bytes and one core; reads and writes go at `rate` bytes a second where that can be set."""

    def __init__(self, folder, memory, rate):
        self.folders = []
        disk = device_of(folder)
        if (ROOT / "cgroup.controllers").exists():
            whole = self._make(ROOT / own_group(""))
            self._write(whole / "memory.max", memory)
            self._write(whole / "memory.swap.max", 0, needed=False)
            self._write(whole / "cpuset.cpus", 0)
            self.slow = disk is not None and self._write(whole / "io.max", f"{disk} rbps={rate} wbps={rate}", needed=False)
            self.peak_file = whole / "memory.peak"
            return
        group = self._make(ROOT / "memory" / own_group("memory"))
        self._write(group / "memory.limit_in_bytes", memory)
        self.peak_file = group / "memory.max_usage_in_bytes"
        group = self._make(ROOT / "cpuset" / own_group("cpuset"))
        self._write(group / "cpuset.cpus", 0)
        self._write(group / "cpuset.mems", 0)
        group = self._make(ROOT / "blkio" / own_group("blkio"))
        self.slow = disk is not None and all(
            self._write(group / f"blkio.throttle.{way}_bps_device", f"{disk} {rate}", needed=False)
            for way in ("read", "write"))

    def _make(self, parent):
        folder = parent / NAME
        folder.mkdir(exist_ok=True)
        self.folders.append(folder)
        return folder

    @staticmethod
    def _write(file, value, needed=True):
        try:
            file.write_text(str(value), encoding="ascii")
        except OSError:
            if needed:
                raise
            return False
        return True

    def enter(self):
        """For the child between fork and exec."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def peak(self):
        return int(self.peak_file.read_text(encoding="ascii")) if self.peak_file.exists() else 0

    def end(self):
        for folder in self.folders:
            for process in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                subprocess.run(["kill", "-9", process], check=False)
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    subprocess.run(["sleep", "0.1"], check=True)
