"""What a process that uses heed may rely on: other threads, Ctrl-C, forks, exceptions of callbacks."""

import asyncio
import concurrent.futures
import contextlib
import importlib.util
import multiprocessing
import os
import pickle
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import numpy
import pytest
from conftest import make_decoder, make_encoder

import heed

TEXT = "the old ship went out to sea "
LINES = [TEXT * (1 + i % 20) for i in range(3000)]
SHORT = ["And God said", "the sea", "the old ship"]


@pytest.fixture(scope="module")
def large_decoder(tmp_path_factory):
    """Takes long for each call below: 60 MB of weights."""
    path = make_decoder(tmp_path_factory.mktemp("large") / "decoder", hidden=512, layers=6)
    return heed.load(path, random_weights=3)


@pytest.fixture(scope="module")
def large_encoder(tmp_path_factory):
    path = make_encoder(tmp_path_factory.mktemp("large") / "encoder", hidden=512, layers=6, masked=False)
    return heed.load(path, random_weights=3)


@pytest.fixture
def calls(large_decoder, large_encoder, translator, classifier, tmp_path):
    """Calls that would take minutes."""
    vast = make_decoder(tmp_path / "vast", hidden=1024, layers=60)
    return {
        "generate": lambda: large_decoder.generate(TEXT, max_new_tokens=10**6),
        "generate a batch": lambda: large_decoder.generate(LINES, max_new_tokens=10**4),
        "generate, streamed": lambda: list(large_decoder.generate(TEXT, max_new_tokens=10**6, stream=True)),
        "chat": lambda: large_decoder.chat([{"role": "user", "content": TEXT}], max_new_tokens=10**6),
        "search": lambda: large_decoder.search([TEXT] * 100, num_beams=4, max_new_tokens=10**4),
        "score": lambda: large_decoder.score(TEXT * 20000, window=512),
        "embed": lambda: large_encoder.embed(LINES * 10),
        "translate": lambda: translator.translate(SHORT * 10000),
        "classify": lambda: classifier.classify(LINES * 100),
        "load": lambda: heed.load(vast, random_weights=1),
    }


NAMES = ["generate", "generate a batch", "generate, streamed", "chat", "search", "score", "embed", "translate",
         "classify", "load"]


@contextlib.contextmanager
def interrupt_after(seconds, times):
    """Sends SIGINT, as Ctrl-C does, and appends the time at which it did."""

    def interrupt():
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()  # a call that has ended by itself is not interrupted
        timer.join()


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_ends_a_call_within_200_ms(calls, name):
    delays = []
    for _ in range(3):  # the machine may be busy
        times = []
        with pytest.raises(KeyboardInterrupt), interrupt_after(0.5, times):
            calls[name]()
        delays.append(time.monotonic() - times[0])
        if delays[-1] < 0.2:
            return
    pytest.fail(f"{name} ended after {delays}")


def waited_for_a_processor():
    """Seconds that this thread was ready to run and another one, of any process, ran instead."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def waits_for_the_gil(call):
    """Seconds for which a thread that ticks every 10 ms waits for the GIL at each tick beside a call of a second."""
    calling, waits, stop = time.pthread_getcpuclockid(threading.get_ident()), [], threading.Event()

    def tick():
        while not stop.is_set():
            begin, waited, computed = time.monotonic(), waited_for_a_processor(), time.clock_gettime(calling)
            time.sleep(0.01)
            late = time.monotonic() - begin - 0.01 - (waited_for_a_processor() - waited)
            # Another process may take the processor from the thread that has the GIL: that is not the call's time.
            waits.append(min(late, time.clock_gettime(calling) - computed))

    ticking = threading.Thread(target=tick)
    with pytest.raises(KeyboardInterrupt), interrupt_after(1.0, []):
        ticking.start()
        call()
    stop.set()
    ticking.join()
    return waits


@pytest.mark.parametrize("name", NAMES)
def test_other_threads_tick_during_a_call(calls, name):
    for _ in range(3):  # the machine may be busy
        waits = waits_for_the_gil(calls[name])
        if max(waits) < 0.02 and statistics.median(waits) < 0.005 and len(waits) > 20:
            return
    pytest.fail(f"{name} held the GIL {sorted(waits)[-5:]} seconds, {len(waits)} ticks")


def test_an_exception_of_a_signal_handler_ends_a_call(large_decoder):
    class Late(Exception):
        pass

    def raise_late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, raise_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Late):
            large_decoder.generate(TEXT, max_new_tokens=10**6)
    finally:
        signal.signal(signal.SIGALRM, before)


def interrupted_generation(model):
    """What a session has generated that Ctrl-C interrupts often, and how often. None where it came just then: between
    the end of step() and the next line."""
    session = model.session()
    session.add(TEXT, max_new_tokens=100)
    stepping, generation, interruptions = False, None, 0

    def interrupt(*_):
        if stepping:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        while session.requests:
            try:
                stepping = True
                deltas = session.step()
                stepping = False
            except KeyboardInterrupt:
                stepping = False
                interruptions += 1
            else:
                generation = next((delta.generation for delta in deltas if delta.generation), generation)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    for delta in session.step():  # of a step that was its last, and was interrupted
        generation = delta.generation or generation
    return generation, interruptions


def test_a_model_and_a_session_go_on_after_ctrl_c(large_decoder):
    alone = large_decoder.generate(TEXT, max_new_tokens=100).text
    generation, interruptions = None, 0
    while generation is None:
        generation, interruptions = interrupted_generation(large_decoder)
    assert generation.text == alone and interruptions > 3


def test_threads_get_the_bits_that_each_gets_alone(decoder, encoder):
    texts = [TEXT[: 5 + 3 * i] for i in range(8)]

    def work(text):
        return (decoder.generate(text, max_new_tokens=20).tokens, encoder.embed([text] * 20).tobytes(),
                decoder.score(TEXT + text).log_probabilities)

    alone = [work(text) for text in texts]
    together = [None] * len(texts)

    def run(i):
        for _ in range(5):
            together[i] = work(texts[i])
            assert together[i] == alone[i]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_sessions_at_once_have_the_bits_that_each_has_alone(decoder):
    def work(i):
        session, outputs = decoder.session(max_prefill_tokens=4 + i), {}
        for k in range(6):
            session.add(TEXT[: 4 + 3 * k + i], max_new_tokens=10 + i, temperature=0.8, seed=i, number=k + 1,
                        top_log_probabilities=1)
        for delta in session:
            if delta.generation:
                outputs[delta.request] = (delta.generation.tokens, [one.log_probability for one in delta.generation.chosen])
        return outputs

    alone = [work(i) for i in range(4)]
    for _ in range(5):
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            assert list(threads.map(work, range(4))) == alone


def test_a_session_belongs_to_one_thread_at_a_time(large_decoder):
    session = large_decoder.session()
    session.add(TEXT * 40, max_new_tokens=10)
    errors = []

    def interfere():
        for _ in range(2000):
            try:
                session.requests
            except heed.Error as error:
                errors.append(str(error))
                return

    thread = threading.Thread(target=interfere)
    thread.start()
    while thread.is_alive() and session.requests:
        try:
            session.step()
        except heed.Error as error:
            errors.append(str(error))
    thread.join()
    assert set(errors) <= {"the session is used by another thread"}
    list(session)


def _in_child(model, encoder, connection):
    connection.send((model.generate(TEXT, max_new_tokens=8).text, encoder.embed(LINES[:200]).tobytes()))
    connection.close()


@pytest.mark.parametrize("threads", [None, 3])
def test_a_forked_child_uses_a_model_of_its_parent(tmp_path, threads):
    """As with gunicorn --preload: the parent has computed before it forks."""
    decoder = heed.load(make_decoder(tmp_path / "decoder"), random_weights=1, threads=threads)
    encoder = heed.load(make_encoder(tmp_path / "encoder", masked=False), random_weights=1, threads=threads)
    expected = decoder.generate(TEXT, max_new_tokens=8).text, encoder.embed(LINES[:200]).tobytes()
    context = multiprocessing.get_context("fork")
    children = []
    for _ in range(3):
        here, there = context.Pipe()
        child = context.Process(target=_in_child, args=(decoder, encoder, there))
        child.start()
        children.append((child, here))
    for child, here in children:
        assert here.poll(30), "the child hangs"
        assert here.recv() == expected
        child.join(10)
        assert child.exitcode == 0
    assert decoder.generate(TEXT, max_new_tokens=8).text == expected[0]


def _load_and_generate(path, connection):
    model = heed.load(path, random_weights=1)
    connection.send(model.generate(TEXT, max_new_tokens=8).text)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_of_any_start_method_loads_a_model(tmp_path, method):
    path = make_decoder(tmp_path / "decoder")
    expected = heed.load(path, random_weights=1).generate(TEXT, max_new_tokens=8).text
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=_load_and_generate, args=(path, there))
    child.start()
    assert here.poll(60), "the child hangs"
    assert here.recv() == expected
    child.join(10)
    assert child.exitcode == 0


def test_a_model_that_is_sent_to_another_process_is_a_clear_error(decoder):
    session = decoder.session()
    for what in (decoder, session, decoder.generate(TEXT, stream=True, max_new_tokens=1)):
        with pytest.raises(TypeError, match="cannot be sent to another process"):
            pickle.dumps(what)


APPLICATION = """
import sys, heed
model = heed.load(sys.argv[-1], random_weights=1)
model.generate("the", max_new_tokens=2)  # starts threads before gunicorn forks

def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [model.generate("the old ship", max_new_tokens=8).text.encode()]
"""


@pytest.mark.skipif(importlib.util.find_spec("gunicorn") is None, reason="gunicorn is not installed")
def test_workers_of_gunicorn_use_a_preloaded_model(tmp_path):
    path = make_decoder(tmp_path / "decoder")
    (tmp_path / "app.py").write_text(APPLICATION.replace("sys.argv[-1]", repr(str(path))))
    expected = heed.load(path, random_weights=1).generate("the old ship", max_new_tokens=8).text
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--preload", "--workers", "3", "--bind", f"fd://{listener.fileno()}",
             "app:application"], cwd=tmp_path, pass_fds=[listener.fileno()], stderr=subprocess.PIPE, text=True)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda _: urllib.request.urlopen(url, timeout=60).read().decode(), range(24)))
    server.send_signal(signal.SIGTERM)
    errors = server.communicate(timeout=30)[1]
    assert answers == [expected] * 24 and "Traceback" not in errors, errors


def test_ctrl_c_ends_a_call_of_a_forked_child(tmp_path):
    model = heed.load(make_decoder(tmp_path / "decoder"), random_weights=1)
    model.generate(TEXT, max_new_tokens=4)

    def work(connection):
        connection.send("begun")
        try:
            model.generate(TEXT, max_new_tokens=10**6)
        except KeyboardInterrupt:
            connection.send("interrupted")

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=work, args=(there,))
    child.start()
    assert here.recv() == "begun"
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGINT)
    assert here.poll(5) and here.recv() == "interrupted"
    child.join()


class TestAsyncio:
    def test_calls_are_awaited_and_iterated(self, decoder, encoder, translator):
        async def main():
            both = await asyncio.gather(decoder.agenerate(TEXT, max_new_tokens=6), encoder.aembed(LINES[:3]))
            pieces = [piece async for piece in decoder.agenerate(TEXT, max_new_tokens=6, stream=True)]
            answer = [part async for part in decoder.achat([{"role": "user", "content": "x"}], max_new_tokens=3,
                                                           stream=True)]
            line = await translator.atranslate("the sea")
            return both, pieces, answer, line

        (output, vectors), pieces, answer, line = asyncio.run(main())
        assert output.text == "".join(pieces) == decoder.generate(TEXT, max_new_tokens=6).text
        assert numpy.array_equal(vectors, encoder.embed(LINES[:3]))
        whole = decoder.chat([{"role": "user", "content": "x"}], max_new_tokens=3)
        assert "".join(part.content for part in answer) == whole.content
        assert line.text == translator.translate("the sea").text

    def test_a_cancelled_task_ends_its_call(self, large_decoder):
        async def main():
            task = asyncio.ensure_future(large_decoder.agenerate(TEXT, max_new_tokens=10**6))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        begin = time.monotonic()
        asyncio.run(main())  # waits for the threads of its executor
        assert time.monotonic() - begin < 5

    def test_errors_reach_the_awaiting_task(self, decoder):
        async def main():
            await decoder.agenerate(TEXT, max_new_tokens=0)

        with pytest.raises(heed.Error, match="max_new_tokens"):
            asyncio.run(main())


def test_importing_imports_nothing_large():
    program = "import sys, heed; print([m for m in ('numpy', 'asyncio', 'html', 'inspect', 'pathlib') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"
