"""heed.train(), heed.distill(), heed.make_shortlist(), heed.quantize() and heed.convert()."""

import pytest
from conftest import GOLDEN, make_training_text

import heed


@pytest.fixture
def settings(tmp_path, monkeypatch):
    make_training_text(tmp_path)
    monkeypatch.chdir(tmp_path)
    return {"data.source": "train.en", "data.target": tmp_path / "train.es"}


def test_a_run_reports_its_steps_and_its_model_translates(settings):
    steps, validations, lines = [], [], []
    result = heed.train("config.toml", settings=settings, on_step=steps.append, on_validation=validations.append,
                        on_log=lines.append, threads=1)
    assert result.finished and [step.step for step in steps] == [1, 2, 3, 4, 5, 6]
    assert all(step.loss > 0 and step.planned_steps == 6 for step in steps)
    assert validations[0].step == 4 and validations[0].bleu is not None and validations[0].samples[0].reference
    assert any("parameters" in line for line in lines) and result.report.exists()
    assert result.model.name == "model" and heed.load(result.model).translate(["one sun"])[0].text is not None


def test_several_corpora_are_a_list_of_dicts(settings, tmp_path):
    corpora = [{"source": tmp_path / "train.en", "target": "train.es", "weight": 2},
               {"source": "train.es", "target": "train.en", "weight": 1}]
    validations = []
    heed.train("config.toml", settings={"data.corpora": corpora, "data.languages": "both"},
               on_validation=validations.append, threads=1)
    assert [one.languages for one in validations[0].directions] == ["en-es", "es-en"]
    assert heed.load("model").translate(["one sun"], source_language="en", target_language="es")


def test_an_exception_ends_a_run_which_can_be_resumed(settings):
    def fail(step):
        if step.step == 3:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        heed.train("config.toml", out="run", settings=settings, on_step=fail)
    steps = []
    assert heed.train(out="run", resume=True, on_step=steps.append).finished
    heed.train("config.toml", out="whole", settings=settings)
    assert steps[0].step == 4
    with open("run/last/model.safetensors", "rb") as resumed, open("whole/last/model.safetensors", "rb") as whole:
        assert resumed.read() == whole.read()


def test_wrong_settings_are_errors_and_write_nothing(settings, tmp_path):
    for wrong, message in (({"run.minuets": 1}, "did you mean run.minutes"), ({"run.max_steps": -1}, "max_steps"),
                           ({"data.source": "missing"}, "missing")):
        with pytest.raises(heed.Error, match=message):
            heed.train("config.toml", out="run", settings={**settings, **wrong})
    with pytest.raises(TypeError):
        heed.train("config.toml", settings={"run.max_steps": object()})
    with pytest.raises(OSError):
        heed.train("missing.toml", settings=settings)
    assert not (tmp_path / "run").exists()


def test_a_quantised_copy_has_smaller_weights(settings, decoder_path, tmp_path):
    model = heed.train("config.toml", settings=settings).model
    result = heed.quantize(model, "small", "q8_0", held_out=("train.en", "train.es"), threads=1)
    assert result.matrices["q8_0"] > 0 and result.bits_per_weight_after < result.bits_per_weight_before
    assert result.quality.measure == "BLEU" and heed.load("small").translate(["red sea"])
    with pytest.raises(heed.Error, match="small"):
        heed.quantize(model, "small")
    with pytest.raises(ValueError, match="weights is 'q9'"):
        heed.quantize(model, "other", "q9")
    with pytest.raises(ValueError, match="pair"):
        heed.quantize(model, "other", held_out=("train.en",))


def test_a_translator_is_loaded_with_the_shortlist_of_a_text(settings):
    model = heed.train("config.toml", settings=settings).model
    made = heed.make_shortlist(model, "lex.s2t", source="train.en", target="train.es", best=20, threads=1)
    assert made.pairs > 0 and made.entries > 0 and 0 < made.coverage <= 1 and made.mean_tokens <= made.vocab_size
    assert heed.load(model, shortlist="lex.s2t").translate(["red sea"])[0].text is not None
    with pytest.raises(heed.Error, match="best is 0"):
        heed.make_shortlist(model, "lex.s2t", source="train.en", target="train.es", best=0)


def test_a_student_learns_from_a_teacher(settings, tmp_path):
    teacher = heed.train("config.toml", settings=settings).model
    short = {"run.max_steps": 4, "run.num_train_epochs": 0, "validation.eval_steps": 4, "validation.sentences": 2}
    lines = []
    result = heed.distill(teacher, "train.en", "student", max_ratio=100, preset="tiny", on_log=lines.append, threads=1,
                          settings={**short, "vocabulary.size": 60, "model.d_model": 32, "model.d_ff": 64},
                          int8_settings=short)
    assert result.finished and len(result.stages) == 6 and result.stages[0].name == "teacher"
    assert any("kept" in line for line in lines) and result.pairs > 0
    assert heed.load(result.model, shortlist=result.shortlist).translate(["red sea"])
    with pytest.raises(heed.Error, match="has a distillation already"):
        heed.distill(teacher, "train.en", "student")


def test_a_converted_model_gives_the_same_embeddings(settings):
    source = GOLDEN / "encoders/embed-bert"
    assert heed.convert(source, "model.gguf", "f32", threads=1) == [
        "the pooler of the first token is left out: GGUF files have none"
    ]
    expected = heed.load(source).embed(["a cat"], normalize=True)
    assert (heed.load("model.gguf").embed(["a cat"], normalize=True) == expected).all()
    heed.convert("model.gguf", "again")
    with pytest.raises(heed.Error, match="already exists"):
        heed.convert(source, "model.gguf")
    heed.convert(GOLDEN / "adapters/attention", "adapter.gguf", base=GOLDEN / "families/llama3")
    with pytest.raises(heed.Error, match="is an adapter, expected a model"):
        heed.convert("adapter.gguf", "adapter")
    with pytest.raises(heed.Error, match="weights is .q9."):
        heed.convert(source, "other.gguf", "q9")
