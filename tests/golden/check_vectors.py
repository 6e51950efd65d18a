#!/usr/bin/env python3
"""Runs a program that writes vectors, and compares what it writes with the files in the tree: byte for byte, but for
what PyTorch sums, whose last digits depend on the computer (*.safetensors: five millionths of a tensor's norm).

    check_vectors.py NAME [root of the repository]

Without a NAME it lists the names. Leaves with 0 if every file is the same, with 1 if one differs, is missing or is too
much, and with 77 and a sentence if a package that the program needs is not installed, or not in the version whose
results are kept.
"""
import importlib.metadata
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# name: program, the folder it runs in, what it needs, the files that it writes there, what it reads there.
# A program whose output is a file has the path of that file instead of a folder.
VECTORS = {
    "wire": ("tests/golden/wire/vectors.py", "tests/golden/wire", [], ["*.hex"], []),
    "numerics": ("tests/golden/numerics/reference.py", "tests/golden/numerics", [],
                 ["payloads.txt", "steps.txt", "newcomer_steps.txt", "coded_steps.txt", "centered_steps.txt"], []),
    "seeded": ("tests/golden/seeded/seeded.py", "tests/golden/seeded", [], ["seeded.txt"], []),
    "corpus": ("tests/fuzz/corpus/make.py", "tests/fuzz/corpus", [], [],
               ["tests/golden/wire", "tests/golden/checkpoints", "tests/golden/training/config_albert.json",
                "tests/fuzz/corpus/proof/run", "tests/fuzz/corpus/proof/initial", "tests/fuzz/corpus/false_step/run", "tests/golden/numerics/reference.py"]),
    "optimizer": ("tests/golden/numerics/make_optimizer.py", "tests/golden/numerics/optimizer_reference.txt",
                  ["numpy", "torch"], [], []),
    "dynamic_map": ("tests/golden/numerics/make_dynamic_map.py", "core/numerics/optimizer/dynamic_map_values.inl",
                    ["numpy", "torch"], [], []),
    "tokenizer": ("tests/golden/tokenizer/fixture.py", "tests/golden/tokenizer", ["tokenizers", "transformers", "regex"],
                  ["encodings.json"], ["tests/golden/tokenizer/vocab.json", "tests/golden/tokenizer/merges.txt"]),
    "checkpoints": ("tests/golden/checkpoints/make_checkpoints.py", "tests/golden/checkpoints",
                    ["torch==2.13.0", "transformers==5.23.0", "safetensors"], ["*/*"], []),
    "training": ("tests/golden/training/make_reference.py --to .", "tests/golden/training",
                 ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors"], ["reference_[!abcds]*.safetensors"],
                 []),
    "albert": ("tests/golden/training/make_albert_reference.py --to .", "tests/golden/training",
               ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors"], ["reference_albert*.safetensors"],
               []),
    "coder": ("tests/golden/training/make_coder_reference.py --to .", "tests/golden/training",
              ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors"], ["reference_coder.safetensors"], []),
    "book": ("tests/golden/training/make_book_reference.py --to .", "tests/golden/training",
             ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors", "diffusers==0.42.1"],
             ["reference_book.safetensors", "vqmodel/*"], []),
    "dalle": ("tests/golden/training/make_dalle_reference.py --to .", "tests/golden/training",
              ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors"], ["reference_dalle.safetensors"], []),
    "swav": ("tests/golden/training/make_swav_reference.py --to .", "tests/golden/training",
             ["numpy", "torch==2.13.0", "transformers==5.23.0", "safetensors"], ["reference_swav*.safetensors"], []),
}
FLOAT_NOISE = 5e-6  # convolutions were seen to differ by 1.4e-6 from one processor to another


def is_missing(need):
    package, _, version = need.partition("==")
    if importlib.util.find_spec(package) is None:
        return True
    return bool(version) and importlib.metadata.version(package).split("+")[0] != version


def run(program, folder, reads, root, home):
    """What the program writes, as {path below the folder: bytes}."""
    place = home / folder
    place.mkdir(parents=True)
    for path in reads:
        copy = shutil.copytree if (root / path).is_dir() else shutil.copy
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        copy(root / path, home / path)
    file, *options = program.split()
    subprocess.run([sys.executable, str(root / file), *options], cwd=place, check=True)
    return {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def tensors_of(content):
    """Metadata and tensors of a safetensors file."""
    import safetensors.torch
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8:8 + size]).get("__metadata__"), safetensors.torch.load(content)


def is_same(path, content, stored):
    if content == stored or path.suffix != ".safetensors":
        return content == stored
    (about, ours), (known, theirs) = tensors_of(content), tensors_of(stored)
    return about == known and ours.keys() == theirs.keys() and all(
        one.shape == theirs[name].shape and one.dtype == theirs[name].dtype and
        (one.double() - theirs[name].double()).norm() <= FLOAT_NOISE * theirs[name].double().norm()
        for name, one in ours.items())


def differences(name, root, home):
    program, place, _, patterns, reads = VECTORS[name]
    if not (root / place).is_dir():
        written = subprocess.run([sys.executable, str(root / program)], check=True, stdout=subprocess.PIPE).stdout
        return [] if written == (root / place).read_bytes() else [place]
    written = run(program, place, reads, root, home)
    kept = {path.relative_to(root / place) for pattern in patterns for path in (root / place).glob(pattern)}
    found = [f"{path} is not written" for path in sorted(kept - set(written))]
    for path, content in sorted(written.items()):
        stored = root / place / path
        if not stored.is_file():
            found.append(f"{path} is not kept")
        elif not is_same(path, content, stored.read_bytes()):
            found.append(f"{path} differs")
    return found


def main():
    if len(sys.argv) < 2:
        print("\n".join(VECTORS))
        return 0
    name = sys.argv[1]
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    missing = [need for need in VECTORS[name][2] if is_missing(need)]
    if missing:
        print(f"skipped: {VECTORS[name][0]} needs {', '.join(missing)}, which this Python does not have")
        return SKIPPED
    with tempfile.TemporaryDirectory() as home:
        found = differences(name, root, pathlib.Path(home))
    for difference in found:
        print(f"{name}: {difference}")
    return 1 if found else 0


sys.exit(main())
