"""Lets a PyTorch training change its number of members while it runs: no process ends but those that leave.

    job = trainyard_elastic.Job(model, optimizer, checkpoint="/checkpoints/last.pt")
    def train(step):
        mine = job.share(len(x), 512)                   # indices: this member's part of a batch of 512
        loss = loss_of(job.model(x[mine]), y[mine])     # job.model: the model in DistributedDataParallel
        optimizer.zero_grad(); loss.backward(); optimizer.step()    # and nothing collective after this
        return loss.item()
    job.run(train, steps=10_000)

$TRAINYARD_MEMBERSHIP names a file {"generation":3,"role":"worker","size":4}: a member with index < size belongs to the job.
Rank 0 never leaves, holds the TCPStore where all meet, and decides: it trains on until all that join wait with a ticket
("I am loaded"), and announces the step to all others; there all make a new process group. Joiners take model, optimizer and
step from rank 0; a member that leaves ends with 0. When a peer is lost all wait `patience` seconds for its replacement, or
for a smaller job, and go on with what rank 0 has; else, or without rank 0, all end, to start again from the checkpoint."""
import datetime, io, json, os, pathlib, re, signal, sys, time
import torch
import torch.distributed as dist

LOST = re.compile("gloo|nccl|connection|socket|peer|store|timed? ?out", re.IGNORECASE)
FILE, ROLE, INDEX, RANK, SIZE, AT_FIRST = map(os.environ.get, (
    "TRAINYARD_" + name for name in "MEMBERSHIP ROLE INDEX RANK SIZE ELASTIC_SIZE".split()))


class Job:
    def __init__(self, model, optimizer, checkpoint=None, every=1000, extra=(), patience=60, report=5):
        if not FILE:
            raise RuntimeError("TRAINYARD_MEMBERSHIP is not set: the TrainingJob needs spec.elastic and checkpoint.mode: Helper")
        self.plain, self.parts = model, [model, optimizer, *extra]   # extra: whatever else has a state_dict()
        self.path, self.every, self.patience, self.report = checkpoint, every, patience, report
        self.index, self.rank, self.taken = int(INDEX), int(RANK), {}
        self.step = self.world = self.call = self.samples = self.terminated = 0
        self.stamp = self.word = self.ended = self.saved = None
        self.elastic = self.membership()["role"] == ROLE             # others: of other roles, with ranks before its own
        self.others = self.rank - self.index if self.elastic else int(SIZE) - int(AT_FIRST or self.told["size"])
        self.rank or not checkpoint or not os.path.exists(checkpoint) or self.load(checkpoint)
        self.store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), None, self.rank == 0,
                                   timeout=datetime.timedelta(minutes=10), wait_for_workers=False)
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "terminated", time.monotonic()))

    def membership(self):
        at = os.stat(FILE)                                           # one a step
        if (at.st_ino, at.st_mtime_ns) != self.stamp:
            self.stamp, self.told = (at.st_ino, at.st_mtime_ns), json.loads(pathlib.Path(FILE).read_text())
        return self.told

    def share(self, total, batch):                                   # whatever the sizes were: each sample once an epoch
        steps = max(1, total // batch)
        order = torch.randperm(total, generator=torch.Generator().manual_seed(self.step // steps))
        self.samples += batch
        return order[self.step % steps * batch:][:batch][self.rank::self.world]

    def run(self, train, steps):
        self.total, self.spoken = steps, (None, time.monotonic())
        while True:
            try:
                self.world or self.meet()
                self.boundary()
                if self.step >= steps:
                    break
                began, loss = time.monotonic(), train(self.step)
            except RuntimeError as error:
                if not LOST.search(str(error)):
                    raise
                print(f"trainyard-elastic: rank {self.rank}, step {self.step}: a peer is lost: {error}", flush=True)
                self.meet(time.monotonic() + self.patience)
                continue
            self.step += 1
            self.say(loss, began)
            self.ended = time.monotonic()
        dist.barrier()                                               # the store ends with rank 0

    def say(self, loss, began):
        (call, at), now = self.spoken, time.monotonic()
        self.step % self.every and self.step < self.total or self.save()
        if self.rank == 0 and (call != self.call or now - at > self.report or self.step == self.total):
            line = dict(step=self.step, totalSteps=self.total, loss=loss, replicas=self.world, checkpoint=self.saved)
            line |= {"samplesPerSecond": round(self.samples / (now - at), 1)} if call == self.call else {
                "pauseMillis": self.ended and round((began - self.ended) * 1000)}
            print("trainyard-progress:", json.dumps({k: v for k, v in line.items() if v is not None}), flush=True)
            self.spoken, self.samples = (self.call, now), 0

    def dump(self, file):
        torch.save([self.step] + [part.state_dict() for part in self.parts], file)

    def load(self, file):
        self.step, *states = torch.load(file, map_location="cpu")    # load_state_dict() moves it to where it belongs
        for part, state in zip(self.parts, states):
            part.load_state_dict(state)

    def save(self):
        if self.rank == 0 and self.path:
            self.dump(self.path + ".new")
            os.replace(self.path + ".new", self.path)
            self.saved = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def boundary(self):       # what rank 0 said before the last step is done; what it says now is sent: nobody waits for it
        if self.word:
            self.word[1].wait()
            call, world = self.word[0].tolist()
            if call < 0 or (self.rank and self.terminated and time.monotonic() - self.terminated > 5):
                self.stop(143)                                       # the job, or (later) this member alone
            if call:
                self.flip(call, world, world > self.world)
        word = torch.tensor([0] * 2 if self.rank else [-1] * 2 if self.terminated else self.decide(self.world))
        self.word = word, dist.broadcast(word, 0, group=self.control, async_op=True)

    def decide(self, stay, again=False):                             # once all ranks from `stay` on wait with a new ticket
        size = self.others + self.membership()["size"]
        if again or size != self.world:
            tickets = {rank: self.store.add(f"ticket/{rank}", 0) for rank in range(stay, size)}
            if all(ticket > self.taken.get(rank, 0) for rank, ticket in tickets.items()):
                self.store.set(f"size/{self.call + 1}", str(size))
                for ticket in tickets.values():
                    self.store.set(f"call/{ticket}", str(self.call + 1))
                self.taken.update(tickets)
                return [self.call + 1, size]
        return [0, 0]

    def meet(self, until=float("inf")):                              # at its start, to join, or after a peer was lost
        self.leave()
        ticket = self.store.add("tickets", 1)
        self.store.set(f"ticket/{self.rank}", str(ticket))
        while not self.terminated and (not self.elastic or self.index < self.membership()["size"]):
            self.rank or self.decide(0, again=True)
            call = self.store.add(f"call/{ticket}", 0)               # polled: a wait() that timed out breaks the store
            if call:
                return self.flip(call, int(self.store.get(f"size/{call}")), True)
            self.terminated = self.terminated or time.monotonic() > until and until
            time.sleep(0.02)
        self.stop()

    def leave(self):
        self.world, self.word = 0, dist.is_initialized() and dist.destroy_process_group()

    def flip(self, call, world, join):
        self.leave()
        self.rank < world or self.stop()
        gpu = torch.cuda.is_available()
        dist.init_process_group("nccl" if gpu else "gloo", store=dist.PrefixStore(f"group/{call}", self.store),
                                rank=self.rank, world_size=world, timeout=datetime.timedelta(minutes=5))
        self.control = dist.new_group(backend="gloo") if gpu else None
        if join:                                                     # rank 0's step and states
            self.dump(packed := io.BytesIO())
            dist.broadcast_object_list(box := [packed.getvalue()], 0, group=self.control)
            self.load(io.BytesIO(box[0]))
        self.model = torch.nn.parallel.DistributedDataParallel(self.plain)
        self.call, self.world = call, world

    def stop(self, code=0):
        self.save()
        sys.exit(143 if self.terminated else code)
