#!/usr/bin/env python3
"""Records what diffusers computes of a VQModel, for test_book_coder_parity.cpp.

A small model with drawn weights, saved as diffusers saves any; pictures of whole values; the codes and the pictures that
diffusers makes of them. Weights are drawn wide, so that no code is a matter of rounding, which is checked.

Usage: make_book_reference.py [--to folder]
       (writes vqmodel/config.json, vqmodel/diffusion_pytorch_model.safetensors and reference_book.safetensors)
"""
import pathlib

import safetensors.torch
import torch
from diffusers import VQModel

from make_reference import Rng, arguments_of

SIDE, PICTURES, SEED = 16, 3, 8


def drawn(generator, name, tensor):
    """Gains around 1, biases around 0, and matrices that keep the size of what goes in."""
    values = torch.randn(tensor.shape, generator=generator)
    if name.startswith("quantize"):
        return values
    if tensor.dim() == 1:
        return 0.2 * values + (1 if name.endswith("weight") else 0)
    return 1.2 * values * tensor[0].numel() ** -0.5


def main(folder):
    torch.set_num_threads(1)
    model = VQModel(down_block_types=("DownEncoderBlock2D",) * 3, up_block_types=("UpDecoderBlock2D",) * 3,
                    block_out_channels=(8, 12, 16), layers_per_block=2, norm_num_groups=4, latent_channels=5,
                    vq_embed_dim=3, num_vq_embeddings=40, sample_size=SIDE)
    generator = torch.Generator().manual_seed(SEED)
    model.load_state_dict({name: drawn(generator, name, tensor) for name, tensor in model.state_dict().items()})
    model.eval()
    rng = Rng(11)
    values = [[rng.next() % 256 for _ in range(3 * SIDE * SIDE)] for _ in range(PICTURES)]
    pictures = torch.tensor(values).view(PICTURES, SIDE, SIDE, 3).permute(0, 3, 1, 2) / 127.5 - 1
    with torch.no_grad():
        latents = model.encode(pictures).latents
        codes = model.quantize(latents)[2][2].view(PICTURES, -1)
        drawings = model.decode(latents).sample
        places = latents.permute(0, 2, 3, 1).flatten(0, 2)
        nearest = torch.cdist(places, model.quantize.embedding.weight).topk(2, 1, largest=False).values
        gap = (nearest[:, 1] - nearest[:, 0]).min().item()
    assert gap > 1e-3, gap
    assert codes.unique().numel() > 10, codes.unique()
    shown = ((drawings / 2 + 0.5).clamp(0, 1) * 255).permute(0, 2, 3, 1).reshape(PICTURES, -1).contiguous()
    assert 0.2 < ((shown > 0) & (shown < 255)).float().mean() < 1  # else all were clamped
    home = pathlib.Path(folder)
    model.save_pretrained(home / "vqmodel")
    safetensors.torch.save_file({"pictures": torch.tensor(values, dtype=torch.int32), "codes": codes.to(torch.int32),
                                 "drawn": shown}, home / "reference_book.safetensors")


if __name__ == "__main__":
    main(arguments_of(__doc__).parse_args().to)
