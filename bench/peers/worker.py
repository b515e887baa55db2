"""Times other libraries' kernels for gotile bench, which starts it: worker.py SUITE FAMILY GPU.

It answers one JSON object, a line, to each line of standard input; bench/peers.go lists them. What the family's kernels
are is in suite_SUITE.py: load(family) imports the library and gives its versions and, by arm, a function that takes the
case and gives launch(i), which launches the work of group i and gives its outputs by name.
"""

import gc
import importlib
import json
import os
import sys

# Libraries print to standard output, which is for answers alone.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def main(suite, family, gpu):
    try:
        import torch

        torch.cuda.set_device(int(gpu))
        versions, arms = importlib.import_module("suite_" + suite).load(family)
        versions = ["torch " + torch.__version__] + versions
    except Exception as e:
        answer(failure(e))
        return
    answer({"versions": ", ".join(versions)})
    worker = Worker(arms)
    for line in sys.stdin:
        message = json.loads(line)
        number = message.pop("id")
        try:
            out = getattr(worker, message.pop("op"))(**message)
        except Exception as e:
            worker.failed(e)
            out = failure(e)
        answer({"id": number, **out})


def answer(message):
    answers.write(json.dumps(message, allow_nan=False) + "\n")
    answers.flush()


def failure(e):
    print(repr(e), file=sys.stderr)
    lines = str(e).strip().splitlines() or [""]
    hint = "; install it for the interpreter that -peers names" if isinstance(e, ModuleNotFoundError) else ""
    return {"error": f"{type(e).__name__}: {lines[0][:160]}{hint}"}


class Worker:
    """One case at a time."""

    def __init__(self, arms):
        self.arms, self.ready, self.broken = arms, {}, False

    def prepare(self, case, groups):
        self.drop()
        case, out = Case(groups=groups, **case), {}
        for name, make in self.arms.items():
            try:
                self.ready[name] = arm = Arm(make, case)
                out[name] = {"graph": arm.graph is not None}
            except Exception as e:
                self.failed(e)
                out[name] = failure(e)
        return {"arms": out}

    def replay(self, arm, count):
        return {"us": self.ready[arm].time(count)}

    def read(self, arm, checks):
        return {"values": self.ready[arm].read(checks)}

    def failed(self, e):
        """After an error of a kernel the context is lost; told so by free, the harness starts another process."""
        self.broken = self.broken or "CUDA error" in str(e)

    def free(self):
        self.drop()
        if self.broken:
            raise RuntimeError("a kernel failed before")
        return {}

    def drop(self):
        import torch

        self.ready = {}
        if "torch._dynamo" in sys.modules:  # it compiles a function a few times only, and then runs it uncompiled
            torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()


class Case:
    """A case's parameters, and its inputs: input(k) gives the k-th, a list of a tensor a group, made once."""

    def __init__(self, groups, dtype, **parameters):
        import torch

        self.groups, self.dtype = groups, {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[dtype]
        self.__dict__.update(parameters)
        self.made = {}

    def input(self, k, *shape):
        if k not in self.made:
            self.made[k] = [uniform(self.dtype, k << 32 | g, *shape) for g in range(self.groups)]
        return self.made[k]


class Arm:
    """The launches of all groups as one CUDA graph; plain launches where that cannot be captured."""

    def __init__(self, make, case):
        import torch

        self.groups, self.graph, self.outputs = case.groups, None, None
        # One stream for all: autograd runs a backward pass on the stream of its forward pass, and the default stream
        # cannot be captured.
        self.stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(self.stream):
            self.launch = make(case)
            for i in range(2 * self.groups):  # compiles, and lets libraries choose their kernels
                self.launch(i % self.groups)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
                # All outputs are kept, so that each group writes memory of its own, as in the other contenders.
                self.outputs = [self.launch(i) for i in range(self.groups)]
            self.graph = graph
        except Exception as e:
            print("no graph:", repr(e), file=sys.stderr)
            self.outputs = None
        torch.cuda.synchronize()

    def run(self):
        if self.graph is not None:
            self.graph.replay()
        else:
            self.outputs = [self.launch(i) for i in range(self.groups)]

    def time(self, count):
        """Microseconds for count replays, after one that is not timed."""
        import torch

        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(self.stream):
            self.run()
            start.record()
            for _ in range(count):
                self.run()
            end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3

    def read(self, checks):
        """Elements of the last group's outputs."""
        import torch

        with torch.cuda.stream(self.stream):
            if self.graph is not None:
                for t in self.outputs[-1].values():
                    t.fill_(float("nan"))
            self.run()
        torch.cuda.synchronize()
        values = []
        for c in checks:
            got = self.outputs[-1][c["output"]].reshape(-1)[c["at"] : c["at"] + c["count"]].double()
            if not torch.isfinite(got).all():
                raise ValueError(f"{c['output']} holds numbers that are not finite")
            values.append(got.tolist())
        return values


def signed(x):
    return x - (1 << 64) if x >= 1 << 63 else x


def shifted(z, n):
    """z >> n with zeros shifted in."""
    return (z >> n) & ((1 << (64 - n)) - 1)


def uniform(dtype, seed, *shape, device="cuda", chunk=1 << 24):
    """The numbers of gotile's tiletest.Uniform, bit for bit: the top bits of splitmix64(seed, index), as many as the
    type's significand has, scaled to [-1, 1). Integers wrap; the steps to a float are exact."""
    import torch

    bits = {torch.bfloat16: 8, torch.float16: 11, torch.float32: 24}[dtype]
    half = 1 << (bits - 1)
    out = torch.empty(shape, dtype=dtype, device=device)
    flat = out.view(-1)
    for at in range(0, flat.numel(), chunk):
        end = min(at + chunk, flat.numel())
        z = torch.arange(at + 1, end + 1, dtype=torch.int64, device=device)
        z = z * signed(0x9E3779B97F4A7C15) + signed(seed)
        z = (z ^ shifted(z, 30)) * signed(0xBF58476D1CE4E5B9)
        z = (z ^ shifted(z, 27)) * signed(0x94D049BB133111EB)
        z = z ^ shifted(z, 31)
        flat[at:end] = (shifted(z, 64 - bits) - half).to(torch.float32) / half
    return out


if __name__ == "__main__":
    main(*sys.argv[1:])
