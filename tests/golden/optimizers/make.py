"""Steps of torch.optim.Muon, from Keller Jordan's reference, of Meta's schedulefree and of SOAP's reference.

    pip install torch safetensors schedulefree
    git clone https://github.com/nikhilvyas/SOAP
    git -C SOAP checkout a1e553530fde97d0e6b307d7c82ac6d38b072340
    PYTHONPATH=SOAP python tests/golden/optimizers/make.py

Writes muon.safetensors. Per case: the first value, the gradients of the steps, and the value after
each step: with products in f32 and, as the reference computes them, in bf16.
Writes schedule_free.safetensors. Per case: the first value, the gradients, and after each step the
value that is trained (y) and the one that is evaluated (x).
Writes soap.safetensors. Per case: the first value, the gradients, the eigenvectors after the first
step as rows (left and right, unless the side is longer than the bound), and the value after each step.
"""

import pathlib

import schedulefree
import torch
from safetensors.torch import save_file
from soap import SOAP

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 4
LONG_STEPS = 12
SOAP_STEPS = 26  # the first only prepares; bases are renewed after the 11th and the 21st
BF16 = torch.bfloat16

# name: shape, weight decay
CASES = {"wide": ((24, 40), 0.0), "tall": ((72, 16), 0.0), "square": ((32, 32), 0.1)}


def values_after_steps(value, gradients, weight_decay, dtype):
    torch.bfloat16 = dtype  # the dtype of the reference's products
    parameter = torch.nn.Parameter(value.clone())
    optimizer = torch.optim.Muon([parameter], lr=0.01, weight_decay=weight_decay, momentum=0.95,
                                 adjust_lr_fn="match_rms_adamw")
    values = []
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimizer.step()
        values.append(parameter.detach().clone())
    torch.bfloat16 = BF16
    return torch.stack(values)


# name: weight decay, steps of warmup
SCHEDULE_FREE_CASES = {"plain": (0.0, 0), "decay": (0.1, 0), "warmup": (0.1, 5)}


def write_schedule_free():
    torch.manual_seed(6)
    tensors = {}
    for name, (weight_decay, warmup) in SCHEDULE_FREE_CASES.items():
        value = torch.randn(6, 7)
        gradients = torch.randn(LONG_STEPS, 6, 7)
        parameter = torch.nn.Parameter(value.clone())
        optimizer = schedulefree.AdamWScheduleFree([parameter], lr=0.01, betas=(0.9, 0.98), eps=1e-9,
                                                   weight_decay=weight_decay, warmup_steps=warmup)
        trained, evaluated = [], []
        for gradient in gradients:
            optimizer.train()
            parameter.grad = gradient.clone()
            optimizer.step()
            trained.append(parameter.detach().clone())
            optimizer.eval()
            evaluated.append(parameter.detach().clone())
        tensors |= {f"{name}.value": value, f"{name}.gradients": gradients,
                    f"{name}.y": torch.stack(trained), f"{name}.x": torch.stack(evaluated)}
    save_file(tensors, HERE / "schedule_free.safetensors")


# name: shape, weight decay, longest side with eigenvectors
SOAP_CASES = {"square": ((8, 8), 0.1, 10000), "wide": ((5, 9), 0.0, 10000), "tall": ((11, 6), 0.1, 10000),
              "wide_bound": ((5, 9), 0.0, 8), "tall_bound": ((11, 6), 0.0, 10), "both_bound": ((7, 9), 0.1, 6),
              "long": ((37, 5), 0.0, 10000)}


def write_soap():
    torch.manual_seed(7)
    tensors = {}
    for name, (shape, weight_decay, max_dim) in SOAP_CASES.items():
        rows, cols = shape
        value = torch.randn(shape)
        # Singular values that differ, so that eigenvectors are determined.
        gradients = torch.randn(SOAP_STEPS, *shape) * torch.logspace(0, -1, cols) @ torch.randn(cols, cols)
        parameter = torch.nn.Parameter(value.clone())
        optimizer = SOAP([parameter], lr=0.01, weight_decay=weight_decay, max_precond_dim=max_dim)
        values = []
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
            if not values:
                bases = optimizer.state[parameter]["Q"]
                tensors |= {f"{name}.{side}": basis.T.contiguous()
                            for side, basis in zip(("left", "right"), bases) if len(basis)}
            values.append(parameter.detach().clone())
        tensors |= {f"{name}.value": value, f"{name}.gradients": gradients,
                    f"{name}.values": torch.stack(values)}
    save_file(tensors, HERE / "soap.safetensors")


def write_muon():
    torch.manual_seed(5)
    tensors = {}
    for name, (shape, weight_decay) in CASES.items():
        value = torch.randn(shape)
        gradients = torch.randn(STEPS, *shape)
        tensors[f"{name}.value"] = value
        tensors[f"{name}.gradients"] = gradients
        tensors[f"{name}.f32"] = values_after_steps(value, gradients, weight_decay, torch.float32)
        tensors[f"{name}.bf16"] = values_after_steps(value, gradients, weight_decay, BF16)
    save_file(tensors, HERE / "muon.safetensors")


if __name__ == "__main__":
    write_muon()
    write_schedule_free()
    write_soap()
