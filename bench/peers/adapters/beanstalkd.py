import json
import socket
import subprocess
import threading

import conversation

PIPELINED = 100


class Connection:
    def __init__(self):
        host, port = conversation.ADDRESS.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def call(self, commands):
        """Sends them all, then waits for the answers: words, and after RESERVED the job's body."""
        self.socket.sendall(b"".join(commands))
        return [self._answer() for _ in commands]

    def _answer(self):
        words = self.answers.readline().split()
        if not words:
            raise ConnectionError("beanstalkd has gone away")
        if words[0] == b"RESERVED":
            words.append(self.answers.read(int(words[2]) + 2)[:-2])
        return words


def put(payload):
    body = json.dumps(payload).encode()
    return b"put 1024 0 120 %d\r\n%s\r\n" % (len(body), body)


def insert(connection, payloads):
    for first in range(0, len(payloads), PIPELINED):
        answers = connection.call([put(payload) for payload in payloads[first:first + PIPELINED]])
        for words in answers:
            if words[0] != b"INSERTED":
                raise RuntimeError(words)


def work(connection):
    ended, commands = 0, []
    conversation.say("ready")
    while True:
        # Waits for a job only when it has nothing to say, because the server goes through the
        # requests of a connection one after the other.
        more = b"reserve-with-timeout 0\r\n" if commands else b"reserve\r\n"
        answers = connection.call(commands + [more] * (PIPELINED if commands else 1))
        deleted = sum(words[0] == b"DELETED" for words in answers)
        ended += deleted
        if deleted and ended == conversation.WANTED:
            conversation.say("done")
        jobs = [words for words in answers if words[0] == b"RESERVED"]
        for *_, body in jobs:
            conversation.handle(json.loads(body))
        commands = [b"delete %s\r\n" % words[1] for words in jobs]


def main():
    connection = Connection()
    if conversation.ROLE == "worker":
        threading.Thread(target=conversation.end_with_driver, daemon=True).start()
        work(connection)
    version = subprocess.run(["beanstalkd", "-v"], capture_output=True, text=True).stdout.split()[1]
    conversation.produce(version, f"a client in Python, {PIPELINED} requests pipelined",
                         lambda payload: insert(connection, [payload]),
                         lambda payloads: insert(connection, payloads))


if __name__ == "__main__":
    main()
