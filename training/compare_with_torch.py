"""Print how far the logits of `tiny` in numpy are from those in torch. Needs torch.

    python training/compare_with_torch.py

64 random texts that fill the context, double precision, the weights that are shipped.
"""

from __future__ import annotations

import numpy as np
import torch
from train_tiny import CONTEXT, VOCABULARY, Net

from passband.generate.tiny.model import load_model


def main() -> None:
    model, net = load_model(), Net().double()
    net.load_state_dict({name: torch.from_numpy(array) for name, array in vars(model).items()})
    tokens = np.random.default_rng(0).integers(len(VOCABULARY), size=(64, CONTEXT))
    with torch.no_grad():
        expected = net(torch.from_numpy(tokens)).numpy()
    cache = model.cache(len(tokens))
    stepped = np.stack([model.read(column[:, None], cache) for column in tokens.T], axis=1)
    at_once = model.read(tokens, model.cache(len(tokens)))
    print(f"logits from {expected.min():.1f} to {expected.max():.1f}")
    print(f"token by token: largest difference {np.abs(stepped - expected).max():.1e}")
    print(f"all at once: largest difference {np.abs(at_once - expected[:, -1]).max():.1e}")


if __name__ == "__main__":
    main()
