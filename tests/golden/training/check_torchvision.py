"""Opens what `potluck-node export` wrote of a SwAV in torchvision, and tells classes by its neighbours as a trainer does.

    check_torchvision.py EXPORTED_FOLDER VALIDATION.tokens

Needs torch, torchvision and safetensors; run by hand. The network is built as pictures.txt beside the model says, its
tensors are taken strictly, and the share of classes that neighbours tell is computed from its embeddings and from the
pixels: the same as `status` and the demo's report say of that state (core/training/picture/neighbours.h).
"""

import json
import pathlib
import sys

import numpy
import safetensors.torch
import torch
import torchvision

ASKED, TEMPERATURE = 20, 0.07


def network_of(config):
    width, resnet = config["width"], torchvision.models.resnet

    class Network(torchvision.models.ResNet):
        def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
            if planes == 64:
                self.inplanes = width
            return super()._make_layer(block, planes * width // 64, blocks, stride, dilate)

    network = Network(resnet.BasicBlock if config["block"] == "basic" else resnet.Bottleneck, config["stages"])
    small = config["stem"] == "small"
    network.conv1 = torch.nn.Conv2d(3, width, 3 if small else 7, 1 if small else 2, 1 if small else 3, bias=False)
    network.bn1, network.fc = torch.nn.BatchNorm2d(width), torch.nn.Identity()
    if small:
        network.maxpool = torch.nn.Identity()
    return network


def told(rows, classes):
    rows = rows / rows.norm(dim=1, keepdim=True)
    similar = rows @ rows.T
    similar.fill_diagonal_(-2)
    right = 0
    for own, row in enumerate(similar):
        values, others = row.topk(min(ASKED, len(row) - 1))
        votes = torch.zeros(256, dtype=torch.float64)
        votes.index_add_(0, classes[others], (values.double() / TEMPERATURE).exp())
        right += int(votes.argmax() == classes[own])
    return right / len(similar)


def main():
    folder, records = pathlib.Path(sys.argv[1]), sys.argv[2]
    config = json.loads((folder / "config.json").read_text())
    side = config["side"]
    assert config["large_side"] == side, "pictures of another size than crops would have to be scaled first"
    values = numpy.fromfile(records, dtype="<u2").reshape(-1, 3 * side * side + 1)
    pixels = torch.from_numpy(values[:, :-1].astype("float32") / 255).view(-1, side, side, 3).permute(0, 3, 1, 2)
    classes = torch.from_numpy(values[:, -1].astype("int64"))
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    pictures = (pixels - mean.view(3, 1, 1)) / deviation.view(3, 1, 1)
    network = network_of(config)
    print(network.load_state_dict(safetensors.torch.load_file(folder / "torchvision.safetensors"), strict=True))
    network.eval()
    with torch.no_grad():
        embeddings = network(pictures)
    print(f"{len(pictures)} pictures: {told(embeddings, classes):.4f} by embeddings, "
          f"{told(pictures.flatten(1), classes):.4f} by pixels")


if __name__ == "__main__":
    main()
