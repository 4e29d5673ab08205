"""Makes tiny COMET models with random weights, and records the scores that unbabel-comet gives with them.

    pip install unbabel-comet==2.2.7
    python tests/golden/comet/make.py

Writes encoder/ (config.json and tokenizer of the encoder), a directory for each model as unbabel-comet publishes them
(hparams.yaml, checkpoints/model.ckpt by PyTorch Lightning, or model.safetensors), and expected.json beside this file.
"""

import json
import pathlib
import shutil
import warnings

import pytorch_lightning
import torch
import yaml
from comet import load_from_checkpoint
from comet.models import ReferencelessRegression, RegressionMetric, UnifiedMetric
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
ENCODER = HERE / "encoder"
TEXTS = [
    ("the old sailor", "el viejo marinero", "el marinero viejo"),
    ("sheep", "a sheep", "the sheep"),
    ("", "nothing", "nothing at all"),
    ("a long text of many words that is cut " * 4, "short", "a long text of many words that is cut " * 3),
    ("one <pad> two", "one", "<pad> one two three"),
    ("same", "same", "same"),
]
MODELS = {
    "regression": (RegressionMetric, dict(layer_transformation="sparsemax", layer_norm=False, pool="avg")),
    "regression-norm": (RegressionMetric, dict(layer_transformation="softmax", layer_norm=True, pool="max",
                                               final_activation="Sigmoid")),
    "regression-layer": (RegressionMetric, dict(layer=1, pool="cls")),
    "referenceless": (ReferencelessRegression, dict(layer_norm=True, pool="avg")),
    "unified": (UnifiedMetric, dict(layer_norm=False, input_segments=["mt", "src", "ref"], sent_layer="mix")),
    "kiwi": (UnifiedMetric, dict(layer_norm=False, input_segments=["mt", "src"], word_level_training=True,
                                 word_layer=2, layer_transformation="softmax")),
}
SAFETENSORS = ["regression-norm", "regression-layer"]  # the others are .ckpt


def make_encoder():
    source = HERE.parent / "encoders" / "embed-xlm-roberta"
    ENCODER.mkdir(exist_ok=True)
    shutil.copy(source / "tokenizer.json", ENCODER)
    config = json.loads((source / "config.json").read_text())
    config["architectures"] = ["XLMRobertaForMaskedLM"]
    del config["transformers_version"]
    (ENCODER / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer = json.loads((source / "tokenizer_config.json").read_text())
    keep = ["bos_token", "cls_token", "eos_token", "mask_token", "pad_token", "sep_token", "unk_token"]
    tokenizer = {key: tokenizer[key] for key in keep} | {"tokenizer_class": "XLMRobertaTokenizerFast"}
    (ENCODER / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=1) + "\n")


def save(folder, model, name):
    folder.mkdir(exist_ok=True)
    hparams = dict(model.hparams) | {"pretrained_model": "xlm-roberta-large"}
    (folder / "hparams.yaml").write_text(yaml.dump(hparams))
    (folder / "checkpoints").mkdir(exist_ok=True)
    checkpoint = folder / "checkpoints" / "model.ckpt"
    trainer = pytorch_lightning.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.strategy.connect(model)
    trainer.save_checkpoint(checkpoint)
    loaded = load_from_checkpoint(str(checkpoint))
    # A published checkpoint names its encoder as hparams.yaml does, not a path.
    contents = torch.load(checkpoint, weights_only=False)
    contents["hyper_parameters"]["pretrained_model"] = "xlm-roberta-large"
    torch.save(contents, checkpoint)
    if name in SAFETENSORS:
        save_file({k: v.contiguous() for k, v in model.state_dict().items()}, folder / "model.safetensors")
        shutil.rmtree(folder / "checkpoints")
    return loaded


def predict(model, fields):
    samples = [{name: text[place] for place, name in enumerate(("src", "mt", "ref")) if name in fields}
               for text in TEXTS]
    # One by one: in a batch, padding changes the last bits.
    return [model.predict([sample], batch_size=1, gpus=0, progress_bar=False).scores[0] for sample in samples]


def main():
    warnings.filterwarnings("ignore")
    make_encoder()
    expected = {"segments": TEXTS, "models": {}}
    for seed, (name, (kind, options)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = kind(pretrained_model=str(ENCODER), load_pretrained_weights=False, local_files_only=True,
                     hidden_sizes=[12, 6], **options)
        for parameter_name, parameter in model.named_parameters():
            of_norm = "LayerNorm.weight" in parameter_name
            torch.nn.init.normal_(parameter, mean=1.0 if of_norm else 0.0, std=0.7)
        loaded = save(HERE / name, model, name)
        scores = {"with_references": predict(loaded, ("src", "mt", "ref"))}
        if kind is not RegressionMetric:
            scores["without"] = predict(loaded, ("src", "mt"))
        expected["models"][name] = scores
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
