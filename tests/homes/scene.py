"""A run between homes: a public computer that hosts it, and homes behind routers that train."""
import pathlib

import nodes

HERE = pathlib.Path(__file__).resolve().parent
WINDOW = 10  # seconds, where nothing else is said


def text_of_this_repository(folder):
    """Something to train on: 400 KB of C++."""
    sources = sorted((HERE.parent.parent / "core").rglob("*.cpp"))
    text = "".join(source.read_text(encoding="utf-8") for source in sources)[:400_000]
    file = folder / "text.txt"
    file.write_text(text, encoding="utf-8")
    return file


class Scene:
    """A public computer that hosts a run and homes that train."""

    def __init__(self, net, program, folder, rounds, place=None, options=()):
        """`place`: namespace and address of the host, if it is not a public computer; `options`: of its node."""
        self.net, self.program, self.folder, self.rounds = net, program, folder, rounds
        name, address = place or net.add_public()
        self.host = nodes.Node(program, name, folder / "host", "--port", str(nodes.PORT), "--address",
                               f"[{address}]:{nodes.PORT}" if ":" in address else f"{address}:{nodes.PORT}", *options)
        self.homes = []
        self.invite = None

    def begin(self, homes, *options, window=WINDOW):
        text = () if "--text" in options else ("--text", str(text_of_this_repository(self.folder)))
        model = () if "--model" in options else ("--model", "tiny")
        self.host.start("host", *text, "--name", "homes", *model, "--window", str(window), "--rounds", str(self.rounds),
                        *options)
        self.invite = nodes.wait_for(lambda: self.host.printed("invite:"), 60, "the host has printed no invite")
        assert "x.pe=" in self.invite, f"the invite names no address: {self.invite}"
        for namespace in homes:
            self.join(namespace, "join")

    def join(self, namespace, verb, *options, environment=None):
        """`verb`: join, or backbone for a computer that does not train; `options` and `environment`: of its node."""
        home = nodes.Node(self.program, namespace, self.folder / namespace, *options, environment=environment)
        home.start(verb, self.invite)
        self.homes.append(home)
        return home

    def round(self):
        status = self.host.ask("status")
        return status["run"]["round"] if status and status.get("run") else 0

    def wait_for_round(self, number, seconds):
        nodes.wait_for(lambda: self.round() >= number, seconds, f"round {number} was not reached in {seconds} s")

    def rounds_accepted(self):
        """By member, as the host's leaderboard has them."""
        rows = self.host.ask("leaderboard") or {}
        return {row["id"]: row["rounds"] for row in rows.get("rows", rows if isinstance(rows, list) else [])}

    def traffic(self):
        """Bytes that each home has sent and received so far."""
        return [self.net.bytes_of(home.namespace) for home in self.homes]

    def kilobytes_a_round(self, before, rounds):
        """Sent and received by a home, mean, since traffic() was `before`."""
        grown = [[b - a for a, b in zip(*pair)] for pair in zip(before, self.traffic())]
        return [sum(one[way] for one in grown) / len(grown) / rounds / 1e3 for way in (0, 1)]

    def end(self):
        for node in [*self.homes, self.host]:
            node.stop()
