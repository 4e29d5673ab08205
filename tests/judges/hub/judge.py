"""Called by judge.sh: compares heed's cache with that of Python's huggingface_hub."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEED = sys.argv[1]
SERVER = pathlib.Path(__file__).resolve().parents[2] / "hub" / "hub_server.py"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64,
    "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 1,
}
checks = 0


def check(what, condition):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"judge: {what}: no")


def make_repository(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "README.md").write_text("a model")
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    (folder / "modules.json").write_text('[{"path": "1_Pooling", "type": "x.Pooling"}]')
    (folder / "model.safetensors").write_bytes(os.urandom(1 << 20))
    (folder / "model.safetensors.lfs").touch()
    (folder / "a-00001-of-00002.gguf").write_bytes(os.urandom(1 << 16))
    (folder / "a-00002-of-00002.gguf").write_bytes(os.urandom(1 << 16))


@contextlib.contextmanager
def server(root):
    process = subprocess.Popen(
        [sys.executable, SERVER, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().split()[0])
    finally:
        process.stdin.close()
        process.wait()


def run_heed(name, command="logits", offline=False):
    """Resolves a model; the weights are not those of a model, so that opening them fails."""
    arguments = {"info": ["info", name], "logits": ["logits", "--model", name, "--tokens", "1"]}
    environment = dict(os.environ, HF_HUB_OFFLINE="1" if offline else "0")
    return subprocess.run(
        [HEED, *arguments[command]], env=environment, capture_output=True, text=True).stderr


def requests(root):
    """Those for the model; Python asks for other things of its own as well."""
    log = root / "requests.log"
    return sum("acme/tiny" in line for line in log.read_text().splitlines()) if log.exists() else 0


def layout(cache):
    """Links with their targets, references, and blobs with their sizes."""
    found = {}
    for path in cache.rglob("*"):
        name = str(path.relative_to(cache))
        if "/.no_exist/" in name or "/trees/" in name or name.startswith(".locks") or name == "CACHEDIR.TAG":
            continue
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_text() if "/refs/" in name else path.stat().st_size
    return found


def judge(work, root):
    import huggingface_hub as hub

    cache = pathlib.Path(os.environ["HF_HUB_CACHE"])
    snapshot = cache / "models--acme--tiny" / "snapshots" / COMMIT

    # heed downloads, Python finds.
    check("heed reaches the weights", "model.safetensors" in run_heed("acme/tiny"))
    before = requests(root)
    found = pathlib.Path(hub.snapshot_download("acme/tiny", local_files_only=True))
    check("snapshot_download finds heed's snapshot", found == snapshot)
    for file in ("config.json", "model.safetensors", "1_Pooling/config.json"):
        path = pathlib.Path(hub.hf_hub_download("acme/tiny", file, local_files_only=True))
        check(f"hf_hub_download finds {file}", path.read_bytes() == (root / "acme/tiny" / file).read_bytes())
    absent = hub.try_to_load_from_cache("acme/tiny", "vocab.txt")
    check("Python knows which files do not exist", absent is hub._CACHED_NO_EXIST)
    check("nobody was asked", requests(root) == before)
    scan = hub.scan_cache_dir(cache)
    check("scan_cache_dir has no warnings", not scan.warnings)
    check("scan_cache_dir sees the branch", "main" in next(iter(scan.repos)).refs)
    ours = layout(cache)

    # Python downloads the same files to the same places, and heed finds them.
    shutil.rmtree(cache)
    hub.snapshot_download("acme/tiny", ignore_patterns=["README.md", "*.gguf"])
    check("both caches are the same", layout(cache) == ours)
    before = requests(root)
    message = run_heed("acme/tiny", offline=True)
    check("heed finds Python's snapshot", str(snapshot) in message and requests(root) == before)
    run_heed("acme/tiny")
    check("heed asks once which other files there are", requests(root) == before + 1)
    run_heed("acme/tiny")
    check("and never again", requests(root) == before + 1)

    # A part by Python, the rest by heed, and the other way round.
    shutil.rmtree(cache)
    hub.hf_hub_download("acme/tiny", "model.safetensors")
    run_heed("acme/tiny")
    check("heed completes Python's snapshot", layout(cache) == ours)
    shutil.rmtree(cache)
    run_heed("acme/tiny", command="info")
    check("info takes no weights", not (snapshot / "model.safetensors").exists())
    hub.snapshot_download("acme/tiny", ignore_patterns=["README.md", "*.gguf"])
    check("Python completes heed's snapshot", layout(cache) == ours)

    # Revisions and GGUF files.
    run_heed("acme/tiny@refs/pr/1:a-00001-of-00002.gguf")
    for file in ("a-00001-of-00002.gguf", "a-00002-of-00002.gguf"):
        path = hub.hf_hub_download("acme/tiny", file, revision="refs/pr/1", local_files_only=True)
        check(f"Python finds {file}", pathlib.Path(path).read_bytes() == (root / "acme/tiny" / file).read_bytes())
    print(f"judge: {checks} checks against huggingface_hub {hub.__version__} passed")


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        root = work / "root"
        make_repository(root / "acme" / "tiny")
        with server(root) as port:
            os.environ.update(HF_ENDPOINT=f"http://127.0.0.1:{port}", HF_HOME=str(work / "home"),
                              HF_HUB_CACHE=str(work / "home" / "hub"), no_proxy="127.0.0.1",
                              HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_DISABLE_XET="1")
            os.environ.pop("HF_TOKEN", None)
            judge(work, root)


main()
