"""OpenVINO's side of embedding: texts sorted by length, padded, averaged, normalised.

    openvino_embed.py MODEL TOKENIZER.json SENTENCES.txt f32|bf16|int8

MODEL is an .onnx file in f32, or for int8 the .xml file that make_openvino_int8.py wrote. Batches run at the same time,
as many as OpenVINO finds best for throughput.
"""
import os
import sys

import openvino
from embed_batches import batches, print_speed, vectors_of


def embed(compiled, tokenizer, lines):
    result = [None] * len(lines)
    requests = [compiled.create_infer_request()
                for _ in range(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))]
    running = {}  # by request: the members and the mask of its batch

    def finish(request):
        request.wait()
        members, mask = running.pop(request)
        for i, vector in zip(members, vectors_of(request.get_output_tensor(0).data, mask)):
            result[i] = vector

    # Not an AsyncInferQueue: its callbacks, which compute in Python, sometimes never end.
    for number, (members, ids, mask) in enumerate(batches(tokenizer, lines)):
        request = requests[number % len(requests)]
        if request in running:
            finish(request)
        running[request] = (members, mask)
        request.start_async({"input_ids": ids, "attention_mask": mask})
    for request in list(running):
        finish(request)
    return result


def main():
    model, tokenizer, sentences, arithmetic = sys.argv[1:]
    compiled = openvino.Core().compile_model(model, "CPU", {
        "PERFORMANCE_HINT": "THROUGHPUT", "INFERENCE_NUM_THREADS": int(os.environ["OMP_NUM_THREADS"]),
        "INFERENCE_PRECISION_HINT": "bf16" if arithmetic == "bf16" else "f32"})
    print_speed(lambda *texts: embed(compiled, *texts), tokenizer, sentences,
                f"OpenVINO {openvino.__version__.split('-')[0]}")


main()
