"""Exports a BERT-like encoder to ONNX, in f32 and with int8 products (scales found on the way).

    make_encoder_onnx.py MODEL OUT_DIRECTORY        writes f32.onnx and int8.onnx
"""
import pathlib
import sys

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModel


class States(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def main():
    source, out = sys.argv[1], pathlib.Path(sys.argv[2])
    model = States(AutoModel.from_pretrained(source, attn_implementation="eager").eval())
    ids = torch.ones(2, 7, dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(model, (ids, ids), str(out / "f32.onnx"), dynamo=False, opset_version=17,
                      input_names=["input_ids", "attention_mask"], output_names=["states"],
                      dynamic_axes={"input_ids": axes, "attention_mask": axes, "states": axes})
    quantize_dynamic(str(out / "f32.onnx"), str(out / "int8.onnx"), weight_type=QuantType.QInt8)


main()
