"""Quantises an encoder in ONNX to OpenVINO's int8, calibrated with texts, as NNCF does for Transformers.

    make_openvino_int8.py MODEL.onnx TOKENIZER.json SENTENCES.txt OUT_DIRECTORY        writes int8.xml
"""
import sys

import nncf
import openvino
from embed_batches import batches, tokenizer_of

CALIBRATION = 64  # texts


def main():
    model, tokenizer, sentences, out = sys.argv[1:]
    with open(sentences) as file:
        lines = file.read().splitlines()[:CALIBRATION]
    tokenizer = tokenizer_of(tokenizer)
    samples = [{"input_ids": ids, "attention_mask": mask}
               for line in lines for _, ids, mask in batches(tokenizer, [line])]
    quantised = nncf.quantize(openvino.Core().read_model(model), nncf.Dataset(samples),
                              subset_size=CALIBRATION, model_type=nncf.ModelType.TRANSFORMER)
    openvino.save_model(quantised, f"{out}/int8.xml")


main()
