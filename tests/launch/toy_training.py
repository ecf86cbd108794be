"""A training of seconds for the tests of examples/trainyard_elastic.py: learns to distinguish ten noisy patterns."""
import os
import time

import torch
from torch import nn

import trainyard_elastic

torch.manual_seed(1)
torch.set_num_threads(1)
patterns = torch.randn(10, 64)
labels = torch.randint(0, 10, (4096,))
inputs = patterns[labels] + 1.5 * torch.randn(4096, 64)
# Members that join at different times start with different weights: the training uses those of rank 0.
torch.manual_seed(int(os.environ["TRAINYARD_INDEX"]))
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
job = trainyard_elastic.Job(model, optimizer, os.environ.get("CHECKPOINT"), every=20, patience=30, report=0.2)


def train(step):
    mine = job.share(len(inputs), 128)
    loss = nn.functional.cross_entropy(job.model(inputs[mine]), labels[mine])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    # One line per step, with values that all members must share.
    weight = sum(parameter.double().sum().item() for parameter in model.parameters())
    print(f"step {step} rank {job.rank} of {job.world} samples {len(mine)} weight {weight:.9f} loss {loss.item():.5f}",
          flush=True)
    # Simulates an expensive model: a change of size has to happen while it runs.
    time.sleep(float(os.environ.get("PACE", "0")))
    return loss.item()


job.run(train, int(os.environ["STEPS"]))
print(f"rank {job.rank} done at step {job.step}", flush=True)
