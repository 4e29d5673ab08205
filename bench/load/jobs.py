"""What bench/serving measures. Each job prints lines of a table: what, figure, wanted."""
import asyncio
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

from comparison import models
from load.client import Client, Refused
from load.server import Server


def line(what, figure, wanted):
    print(f"| {what} | {figure} | {wanted} |", flush=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def prompts(count, words=(4, 40), seed=1):
    """Beginnings of sentences, each different."""
    generator = random.Random(seed)
    text = models.sentences(1000).read_text().split()
    result = []
    for _ in range(count):
        length, begin = generator.randint(*words), generator.randrange(len(text) - 100)
        result.append(" ".join(text[begin:begin + length]))
    return result


def own_time():
    times = os.times()
    return times.user + times.system


class Setting:
    def __init__(self, heed, threads, quick, minutes):
        self.heed, self.threads, self.quick, self.minutes = heed, threads, quick, minutes
        self.decoder = models.smollm2()
        self.embedder = models.minilm()

    def server(self, names=("decoder",), **limits):
        tables = {"decoder": self.decoder, "embedder": self.embedder, "translator": translator()}
        return Server(self.heed, {name: tables[name] for name in names}, self.threads, **limits)

    def offline(self, command, lines, *options):
        """Output lines and seconds of a command over lines of text, without loading."""
        words = [self.heed, command, "--threads", str(self.threads), *options]
        begin = time.monotonic()
        done = subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
        whole = time.monotonic() - begin
        begin = time.monotonic()
        subprocess.run(words, input="a\n", capture_output=True, text=True, check=True)
        return done.stdout.splitlines(), whole - (time.monotonic() - begin)


def translator():
    """A translator of the paper's base shape with random weights and the vocabulary of a small one."""
    source = models.ROOT / "tests/golden/translation/opus-mt"
    folder = models.BUILD / "models" / "serving-translator"
    if not folder.exists():
        folder.mkdir(parents=True)
        for file in source.iterdir():
            if file.suffix != ".safetensors":
                (folder / file.name).write_bytes(file.read_bytes())
        config = json.loads((source / "config.json").read_text())
        for side in ("encoder", "decoder"):
            config |= {f"{side}_layers": 6, f"{side}_attention_heads": 8, f"{side}_ffn_dim": 2048}
        config |= {"d_model": 512, "num_hidden_layers": 6, "max_position_embeddings": 512}
        (folder / "config.json").write_text(json.dumps(config))
    return {"path": str(folder), "random_weights": 1}


async def gather(port, count, requests, run):
    """Runs run(client, request) for all requests over `count` connections."""
    waiting = list(reversed(list(enumerate(requests))))
    results = [None] * len(waiting)

    async def worker():
        async with Client(port) as client:
            while waiting:
                number, request = waiting.pop()
                results[number] = await run(client, request)
    await asyncio.gather(*(worker() for _ in range(count)))
    return results


async def at_rate(rate, seconds, run):
    """Starts run(number) so many times a second, however long each takes, and waits for all."""
    tasks, begin = set(), time.monotonic()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0, begin + number / rate - time.monotonic()))
        task = asyncio.create_task(run(number))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)


async def complete(client, prompt, tokens=64, **fields):
    return await client.post("/v1/completions", model="decoder", prompt=prompt, max_tokens=tokens, **fields)


async def stream(client, prompt, tokens=64):
    """The moments at which the tokens of a completion arrive; the first is that of the request."""
    moments = [time.monotonic()]
    async for now, event in client.stream("/v1/completions", model="decoder", prompt=prompt, max_tokens=tokens):
        moments.append(now)
    return moments


def same_answers(setting):
    """Text and log-probabilities under load, beside those of heed generate, embed and translate."""
    count = 50 if setting.quick else 500
    texts = prompts(count)
    model = ["--model", str(setting.decoder)]
    generated, _ = setting.offline("generate", texts, *model, "--max-new-tokens", "32", "--json", "--logprobs", "0")
    generated = [json.loads(one) for one in generated]
    embedded, _ = setting.offline("embed", texts, "--model", str(setting.embedder))
    embedded = [json.loads(one)["embedding"] for one in embedded]
    short = [" ".join(text.split()[:8]) for text in texts]
    path = translator()["path"]
    translated, _ = setting.offline("translate", short, "--model", path, "--random-weights", "1", "--json",
                                    "--max-new-tokens", "16")
    translated = [json.loads(one)["translations"][0] for one in translated]

    async def run(client, request):
        kind, i = request
        if kind == "generate":
            choice = (await complete(client, texts[i], 32, logprobs=0))["choices"][0]
            return (choice["text"], choice["logprobs"]["token_logprobs"]) == (
                generated[i]["text"], [one["log_probability"] for one in generated[i]["log_probabilities"]])
        if kind == "embed":
            answer = await client.post("/v1/embeddings", model="embedder", input=texts[i])
            return answer["data"][0]["embedding"] == embedded[i]
        answer = await client.post("/v1/translate", model="translator", text=short[i], max_new_tokens=16)
        best = answer["translations"][0]["candidates"][0]
        return (best["text"], best["score"]) == (translated[i]["text"], translated[i]["score"])

    with setting.server(("decoder", "embedder", "translator")) as server:
        for connections in (1, 8, 64):
            requests = [(kind, i) for i in range(count) for kind in ("generate", "embed", "translate")]
            same = asyncio.run(gather(server.port, connections, requests, run))
            line(f"{count} prompts, texts and translations, {connections} connections",
                 f"{sum(same)} of {len(same)} identical", "all")


def one_client(setting):
    """Beside heed generate, alternating."""
    rates, firsts, offline_rates, offline_firsts = [], [], [], []
    tokens = 32 if setting.quick else 256
    prompt = " ".join(prompts(1, (14, 14))[0].split())
    with setting.server() as server:
        async def run():
            async with Client(server.port) as client:
                return await stream(client, prompt, tokens)
        asyncio.run(run())
        for _ in range(3 if setting.quick else 7):
            moments = asyncio.run(run())
            firsts.append(moments[1] - moments[0])
            rates.append((len(moments) - 2) / (moments[-1] - moments[1]))
            words = [setting.heed, "bench", "--model", setting.decoder, "--threads", str(setting.threads),
                     "--prompt-tokens", "16", "--tokens", str(tokens), "--repeat", "1", "--json"]
            measured = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["measured"]
            offline_rates.append(measured["decode"]["per_second"])
            offline_firsts.append(16 / measured["prefill"]["per_second"])
    rate, offline = statistics.median(rates), statistics.median(offline_rates)
    line("one client, tokens/s, beside heed bench", f"{rate:.0f} of {offline:.0f}: {rate / offline:.0%}", "97%")
    more = statistics.median(firsts) - statistics.median(offline_firsts)
    line("time to first token of 16 tokens, beyond their prefill", f"{more * 1000:.1f} ms", "at most 5 ms")


def streams(setting):
    """Many streams beside the same prompts in one call of heed generate."""
    tokens = 16 if setting.quick else 128
    for count in (32, 64):
        texts = prompts(count, (10, 20))
        options = ["--model", str(setting.decoder), "--max-new-tokens", str(tokens), "--batch-tokens", "65536"]
        rates, offline_rates = [], []
        with setting.server() as server:
            for _ in range(3):
                cpu, begin = own_time(), time.monotonic()
                moments = asyncio.run(gather(server.port, count, texts, lambda c, p: stream(c, p, tokens)))
                seconds = time.monotonic() - begin
                cpu = own_time() - cpu
                rates.append(sum(len(one) - 1 for one in moments) / seconds)
                written, seconds = setting.offline("generate", texts, *options, "--json")
                offline_rates.append(sum(len(json.loads(one)["tokens"]) for one in written) / seconds)
        rate, offline = statistics.median(rates), statistics.median(offline_rates)
        line(f"{count} streams, tokens/s, beside the same prompts offline",
             f"{rate:.0f} of {offline:.0f}: {rate / offline:.0%} (client: {cpu / seconds:.0%} of a processor)", "85%")


def long_prompt(setting):
    """The time between two tokens of 16 streams, while a prompt of 4,096 tokens arrives."""
    words = models.sentences(1000).read_text().split()
    long = " ".join(words[:3000])

    async def run(port):
        async with Client(port) as client:
            tokens = (await client.post("/v1/tokenize", model="decoder", text=long))["tokens"][:4096]
        running = [asyncio.create_task(gather(port, 1, [text], lambda c, p: stream(c, p, 256)))
                   for text in prompts(16, (10, 20))]
        await asyncio.sleep(0.5)
        async with Client(port) as client:
            begin = time.monotonic()
            await client.post("/v1/completions", model="decoder", prompt=tokens, max_tokens=1)
            took = time.monotonic() - begin
        return [(await one)[0] for one in running], took
    with setting.server() as server:
        moments, took = asyncio.run(run(server.port))
    intervals = [b - a for one in moments for a, b in zip(one[1:], one[2:])]
    median, late = statistics.median(intervals), percentile(intervals, 0.99)
    line("a 4,096-token prompt among 16 streams: p99 of the time between tokens, of its median",
         f"{late * 1000:.1f} ms of {median * 1000:.1f} ms: {late / median:.2f}; the prompt took {took:.1f} s", "at most 2")


def rates_beside_offline(setting, name, connections, texts, post, offline):
    """Texts/s over many connections, as one list, and offline: medians of three rounds."""
    single, listed, alone = [], [], []
    with setting.server((name,)) as server:
        for _ in range(3):
            for rates, count, requests in ((single, connections, texts), (listed, 1, [texts])):
                begin = time.monotonic()
                asyncio.run(gather(server.port, count, requests, post))
                rates.append(len(texts) / (time.monotonic() - begin))
            alone.append(len(texts) / offline())
    return [statistics.median(rates) for rates in (single, listed, alone)]


def embeddings(setting):
    texts = [one for one in models.sentences(1000).read_text().splitlines() if one]
    texts = texts[:200] if setting.quick else texts

    async def post(client, text):
        return await client.post("/v1/embeddings", model="embedder", input=text, encoding_format="base64")
    single, listed, alone = rates_beside_offline(
        setting, "embedder", 64, texts, post,
        lambda: setting.offline("embed", texts, "--model", str(setting.embedder))[1])
    line("embeddings, 64 connections, one text each, texts/s, beside heed embed",
         f"{single:.0f} of {alone:.0f}: {single / alone:.0%}", "85%")
    line("embeddings, one list", f"{listed:.0f}: {listed / alone:.0%}", "97%")


def translations(setting):
    texts = prompts(64 if setting.quick else 256, (8, 24))
    options = ["--model", translator()["path"], "--random-weights", "1", "--max-new-tokens", "32"]

    async def post(client, text):
        return await client.post("/v1/translate", model="translator", text=text, max_new_tokens=32)
    single, listed, alone = rates_beside_offline(
        setting, "translator", 32, texts, post, lambda: setting.offline("translate", texts, *options)[1])
    line("translations, 32 connections, beam 4, lines/s, beside heed translate",
         f"{single:.1f} of {alone:.1f}: {single / alone:.0%}", "85%")
    line("translations, one list", f"{listed:.1f}: {listed / alone:.0%}", "97%")


def overload(setting):
    """Ten times more requests than can be answered, in rounds of a minute between measurements of the peak: the speed
    of a virtual machine changes from minute to minute."""
    texts = prompts(1000, (10, 30))
    settled = 5  # seconds until answers come as fast as they will

    async def peak(port, seconds):
        """Answers a second over 64 connections."""
        answered, end = [], time.monotonic() + seconds

        async def ask(number):
            async with Client(port) as client:
                while time.monotonic() < end:
                    await complete(client, texts[number % len(texts)], 32)
                    answered.append(time.monotonic())
                    number += 64
        await asyncio.gather(*(ask(number) for number in range(64)))
        return sum(end - seconds + settled < moment < end for moment in answered) / (seconds - settled)

    async def load(port, rate, seconds):
        """Requests at a rate, whatever becomes of them: outcomes with their times, and answers a second."""
        outcomes, idle, begin = [], [], time.monotonic()

        async def one(number):
            asked = time.monotonic()
            client = idle.pop() if idle else Client(port)
            try:
                await complete(client, texts[number % len(texts)], 32)
                outcome = 200
            except Refused as error:
                outcome = error.status
            except (OSError, asyncio.IncompleteReadError) as error:
                outcome = repr(error)
                client.close()
            outcomes.append((outcome, time.monotonic(), time.monotonic() - asked))
            idle.append(client)
        await at_rate(rate, seconds, one)
        good = sum(outcome == 200 and begin + settled < moment < begin + seconds for outcome, moment, _ in outcomes)
        return outcomes, good / (seconds - settled)
    rounds, seconds = (1, 20) if setting.quick else (max(1, round(setting.minutes)), 60)
    outcomes, goodputs, peaks = [], [], []
    with setting.server() as server:
        peaks.append(asyncio.run(peak(server.port, 20)))
        before, cpu, begun = server.memory_mb(), own_time(), time.monotonic()
        for _ in range(rounds):
            more, goodput = asyncio.run(load(server.port, 10 * peaks[-1], seconds))
            outcomes += more
            peaks.append(asyncio.run(peak(server.port, 20)))
            goodputs.append(2 * goodput / (peaks[-2] + peaks[-1]))
        cpu, after = (own_time() - cpu) / (time.monotonic() - begun), server.memory_mb()
        alive = server.process.poll() is None
    statuses = [status for status, _, _ in outcomes]
    other = set(statuses) - {200, 429, 503}
    refused = [took for status, _, took in outcomes if status in (429, 503)]
    line(f"10x overload, {rounds} times {seconds} s: goodput beside the peak before and after",
         f"{statistics.median(goodputs):.0%} ({min(goodputs):.0%} to {max(goodputs):.0%}; peaks {min(peaks):.1f} to "
         f"{max(peaks):.1f}/s; client: {cpu:.0%} of a processor)", "95%")
    line("its outcomes", f"{statuses.count(200)} complete, {len(refused)} refused, others: "
         f"{sorted(map(str, other)) or 'none'}; {'alive' if alive else 'CRASHED'}", "no others")
    line("refusals, p99", f"{percentile(refused, 0.99) * 1000:.1f} ms" if refused else "none", "at most 50 ms")
    line("memory", f"{after - before:+.1f} MB", "at most +64 MB")


def cancels(setting):
    """Clients that leave at random moments, beside one that stays."""
    count = 500 if setting.quick else 10_000
    generator = random.Random(1)
    texts = prompts(200, (5, 400))

    async def leave(port, text):
        client = Client(port)
        task = asyncio.create_task(stream(client, text, 64) if generator.random() < 0.5
                                   else complete(client, text, 64))
        await asyncio.sleep(generator.random() ** 2 * 0.3)
        task.cancel()
        client.close()
        await asyncio.gather(task, return_exceptions=True)

    async def run(port, expected):
        wrong = answered = 0
        left = count
        stopped = False

        async def stay():
            nonlocal wrong, answered
            async with Client(port) as client:
                while not stopped:
                    answer = (await complete(client, texts[0], 48, logprobs=0))["choices"]
                    wrong += answer != expected
                    answered += 1

        async def worker():
            nonlocal left
            while left > 0:
                left -= 1
                await leave(port, generator.choice(texts))
        stayed = asyncio.create_task(stay())
        await asyncio.gather(*(worker() for _ in range(32)))
        stopped = True
        await stayed
        return wrong, answered
    with setting.server() as server:
        async def alone():
            async with Client(server.port) as client:
                return (await complete(client, texts[0], 48, logprobs=0))["choices"]
        expected = asyncio.run(alone())
        asyncio.run(run(server.port, expected) if setting.quick else gather(server.port, 32, texts, complete))
        time.sleep(1)
        before = server.memory_mb(), server.descriptors(), server.metric("heed_kv_rows")
        wrong, answered = asyncio.run(run(server.port, expected))
        time.sleep(1)
        after = server.memory_mb(), server.descriptors(), server.metric("heed_kv_rows")
        running = server.metric("heed_running_requests"), server.metric("heed_queued_requests")
    line(f"{count} cancels: answers of another client that changed", f"{wrong} of {answered}", "none")
    line("memory, file descriptors", f"{after[0] - before[0]:+.1f} MB, {after[1] - before[1]:+d}", "none")
    line("requests that still run or wait; kv rows (kept prefixes)", f"{running[0]:.0f}, {running[1]:.0f}; "
         f"{before[2]:.0f} before, {after[2]:.0f} after", "0, 0")


def turns(setting):
    """A conversation: the tokens that each turn computes."""
    questions = prompts(10, (60, 90), seed=2)
    limits = {"max_tokens": 80, "temperature": 0}

    async def talk(port):
        rows = []
        async with Client(port) as client:
            messages = []
            for question in questions:
                messages.append({"role": "user", "content": question})
                before = server.metric("heed_reused_tokens_total")
                answer = await client.post("/v1/chat/completions", model="decoder", messages=messages, **limits)
                reused = server.metric("heed_reused_tokens_total") - before
                messages.append(answer["choices"][0]["message"])
                rows.append((answer["usage"]["prompt_tokens"], reused))
        return messages, rows
    with setting.server() as server:
        messages, rows = asyncio.run(talk(server.port))
        async def again():
            async with Client(server.port) as client:
                return await client.post("/v1/chat/completions", model="decoder", messages=messages[:-1],
                                         logprobs=True, **limits)
        reused = asyncio.run(again())["choices"]
    with setting.server() as server:
        fresh = asyncio.run(again())["choices"]
    tokens, kept = rows[-1]
    before = rows[-2][0]
    line("turn 10 of a conversation", f"{tokens} tokens, {tokens - kept:.0f} computed; turn 9 had {before}", "the new ones")
    line("its answer with reuse and without", "identical" if reused == fresh else "DIFFERENT", "identical")


def soak(setting):
    """At 80% of the highest rate."""
    texts = prompts(1000, (10, 30))

    async def steady(port, rate, seconds):
        ended, begin = [], time.monotonic()

        async def one(number):
            async with Client(port) as client:
                await complete(client, texts[number % len(texts)], 32)
            ended.append(time.monotonic() - begin)
        await at_rate(rate, seconds, one)
        return ended
    with setting.server() as server:
        sample = texts[:600]
        asyncio.run(gather(server.port, 32, sample, lambda c, p: complete(c, p, 32)))
        begin = time.monotonic()
        asyncio.run(gather(server.port, 32, sample, lambda c, p: complete(c, p, 32)))
        rate = 0.8 * len(sample) / (time.monotonic() - begin)
        asyncio.run(steady(server.port, rate, 60))
        before = server.memory_mb()
        seconds = 60 * setting.minutes
        ended = asyncio.run(steady(server.port, rate, seconds))
        after = server.memory_mb()
    part = seconds / 10
    first = sum(1 for one in ended if part <= one < 2 * part) / part
    last = sum(1 for one in ended if seconds - part <= one < seconds) / part
    line(f"{setting.minutes:g} minutes at 80% load ({rate:.1f} requests/s): throughput at the end, of the beginning",
         f"{last / first:.1%}", "within 2%")
    line("memory", f"{after - before:+.1f} MB", "at most +16 MB")


JOBS = {"same_answers": same_answers, "one_client": one_client, "streams": streams, "long_prompt": long_prompt,
        "embeddings": embeddings, "translations": translations, "overload": overload, "cancels": cancels,
        "turns": turns, "soak": soak}
