"""A training of seconds that knows nothing of sizes: it reads its rank when it starts, and saves on SIGTERM."""
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

STEPS, PATH, PACE = int(os.environ["STEPS"]), os.environ["CHECKPOINT"], float(os.environ.get("PACE", "0"))
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
torch.manual_seed(1)
torch.set_num_threads(1)
patterns = torch.randn(10, 64)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
# Rank 0 has the checkpoint: it never moves to another pod.
kept = [torch.load(PATH) if rank == 0 and os.path.exists(PATH) else None]
dist.broadcast_object_list(kept)
step, ended = 0, None
if kept[0]:
    step, ended = kept[0]["step"], kept[0]["at"]
    model.load_state_dict(kept[0]["model"])
    optimizer.load_state_dict(kept[0]["optimizer"])
shared = nn.parallel.DistributedDataParallel(model)
said = 0.0
while step < STEPS:
    # All members stop after the same step; otherwise the remaining ones would wait for the others.
    wish = torch.tensor([float(bool(stop))])
    dist.all_reduce(wish)
    if wish.item() > 0:
        if rank == 0:
            torch.save({"step": step, "at": time.time(), "model": model.state_dict(),
                        "optimizer": optimizer.state_dict()}, PATH + ".new")
            os.replace(PATH + ".new", PATH)
            print(f"saved at step {step}", flush=True)
        sys.exit(143)
    noise = torch.Generator().manual_seed(step * 64 + rank)
    labels = torch.randint(0, 10, (32,), generator=noise)
    inputs = patterns[labels] + 1.5 * torch.randn(32, 64, generator=noise)
    begun = time.time()
    loss = nn.functional.cross_entropy(shared(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    time.sleep(PACE)
    if rank == 0 and (ended or time.time() - said > 2 or step == STEPS):
        line = {"step": step, "totalSteps": STEPS, "loss": loss.item(), "replicas": world}
        if ended:
            line["pauseMillis"] = round((begun - ended) * 1000)
        print("trainyard-progress:", json.dumps(line), flush=True)
        said, ended = time.time(), None
