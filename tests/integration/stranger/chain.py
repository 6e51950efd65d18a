"""The chain of a run's lists as somebody without a seat follows it: each is proved by a quorum of the committee that the
one before names."""
import lists
import sodium
import wire


class Chain:
    def __init__(self, manifest):
        self._manifest = manifest
        self._committee = manifest.first_committee
        self.lists = []
        self._proposed = {}  # hash -> bytes, of the round that is decided
        self._precommits = {}  # (term, view, hash) -> members

    def height(self):
        return len(self.lists)

    def hash_before(self, round_):
        return self.lists[round_ - 1].hash if round_ > 0 else wire.NOTHING

    def digest_at(self, round_):
        """What a list certifies as theta[round]."""
        return self.lists[round_].base if round_ < len(self.lists) else None

    def committee(self):
        return self._committee

    def k(self):
        return self.lists[-1].k if self.lists else self._manifest.k

    def take_ballot(self, body):
        """Whether a list was committed by it."""
        statement, content = lists.ballot(body)
        if statement.run != self._manifest.run or statement.round != self.height():
            return False
        if content and wire.sha256(content) == statement.list:
            self._proposed[statement.list] = content
        if statement.kind == 3 and statement.step == wire.PRECOMMIT and self._is_proof(statement):
            return self._commit(statement.list)
        is_precommit = statement.kind == 2 and statement.step == wire.PRECOMMIT and statement.list is not None
        if is_precommit and statement.author in self._committee and self._is_signed(statement, statement.author,
                                                                                    statement.author):
            votes = self._precommits.setdefault((statement.term, statement.view, statement.list), set())
            votes.add(statement.author)
            if len(votes) >= self._quorum():
                return self._commit(statement.list)
        return False

    def take_history(self, body):
        """How many of these lists were new."""
        before = self.height()
        for content, proof in lists.history(body):
            named = proof.kind == 3 and proof.step == wire.PRECOMMIT and proof.list == wire.sha256(content)
            if proof.round == self.height() and named and self._is_proof(proof):
                self._proposed[proof.list] = content
                self._commit(proof.list)
        return self.height() - before

    def _quorum(self):
        return 2 * len(self._committee) // 3 + 1

    def _is_signed(self, statement, member, signer):
        return sodium.verify(member, "potluck/vote/1", self._manifest.run + statement.vote(), statement.signatures[signer])

    def _is_proof(self, certificate):
        """Of exactly a quorum, all of whose signatures hold."""
        if certificate.run != self._manifest.run or len(certificate.signatures) != self._quorum():
            return False
        return all(number < len(self._committee) and self._is_signed(certificate, self._committee[number], number)
                   for number in certificate.signatures)

    def _commit(self, name):
        if name not in self._proposed:
            return False
        new = lists.AcceptList(self._proposed[name])
        follows = (new.run, new.round, new.previous) == (self._manifest.run, self.height(), self.hash_before(self.height()))
        if not follows or not all(self._is_contributors(new, entry) for entry in new.entries):
            raise ValueError(f"a quorum has committed a list for round {self.height()} that cannot follow")
        if lists.ROLL_BACK in new.actions or lists.REPLACE in new.actions:
            raise NotImplementedError("the host took rounds back")
        self.lists.append(new)
        self._committee = new.members
        self._proposed, self._precommits = {}, {}
        return True

    def _is_contributors(self, accept_list, entry):
        """The signature is that of the contribution's message, to this round or, if it is late, to the one before."""
        round_ = accept_list.round - entry.late
        base = self.lists[round_].base if entry.late else accept_list.base
        body = wire.u64(round_) + base + entry.payload + wire.u64(entry.tokens) + entry.certificate
        return sodium.verify(entry.peer, "potluck/contribution/1", self._manifest.run + body, entry.signature)
