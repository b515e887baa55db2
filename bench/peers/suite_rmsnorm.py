"""RMSNorm in other libraries: fwd, bwd, add_fwd, add_bwd (with a residual), gated_fwd, gated_bwd.

The inputs are numbered as in bench/rmsnorm. Backward passes call the libraries' own backward functions, or autograd
where there is none, and give the gradients dx and dw alone; what they need from the forward pass is made before.
"""

import importlib
from importlib.metadata import version

import torch
import torch._functorch.config
import torch.nn.functional as F

WEIGHT = 8  # the number of w among the inputs


def load(family):
    """The versions of a family's libraries and its arms; an ImportError where they are not installed."""
    names, modules = {
        "torch": (["triton"], []),
        "fla": (["fla-core", "triton"], ["fla.modules.norm.layernorm", "fla.modules.norm.fused_norm_gate"]),
        "liger": (["liger-kernel", "triton"], ["liger_kernel.ops.rms_norm", "liger_kernel.ops.fused_add_rms_norm"]),
        "quack": (["quack-kernels", "nvidia-cutlass-dsl"], ["quack.rmsnorm"]),
    }[family]
    libs = [importlib.import_module(m) for m in modules]
    arms = {
        "torch": lambda: {"torch": lambda c: pytorch(c, False), "torch_compile": lambda c: pytorch(c, True)},
        "fla": lambda: {"fla": lambda c: fla(c, *libs)},
        "liger": lambda: {"liger": lambda c: liger(c, *libs)},
        "quack": lambda: {"quack": lambda c: quack(c, *libs)},
    }[family]()
    return [f"{n} {installed(n)}" for n in names], arms


def installed(name):
    try:
        return version(name)
    except Exception:  # unpacked without its metadata
        return "unknown"


def inputs(c, count):
    """The first inputs, rows x n, and w, each a list of a tensor a group."""
    return [c.input(k, c.rows, c.n) for k in range(count)] + [c.input(WEIGHT, c.n)]


def no(c, library):
    raise NotImplementedError(f"{library} has no {c.__dict__['pass']}")


def pytorch(c, compiled):
    """torch.nn.functional.rms_norm, eager or compiled."""
    act = {"silu": F.silu, "sigmoid": torch.sigmoid}[getattr(c, "act", "silu")]

    def norm(x, w):
        return F.rms_norm(x, (c.n,), w, c.eps)

    def add(x, r, w):
        s = x + r
        return s, norm(s, w)

    def gated(x, z, w):
        return norm(x, w) * act(z)

    if compiled:
        torch._functorch.config.donated_buffer = False  # the backward pass runs many times
        norm_, add_, gated_ = (torch.compile(f, dynamic=False) for f in (norm, add, gated))
    else:
        norm_, add_, gated_ = norm, add, gated

    def forward(f, names, *tensors):
        def launch(i):
            with torch.no_grad():
                out = f(*(t[i] for t in tensors))
            return dict(zip(names, out if isinstance(out, tuple) else (out,)))

        return launch

    def backward(f, names, leaves, upstream):
        leaves = [[t.detach().requires_grad_() for t in leaf] for leaf in leaves]
        done = [f(*(leaf[i] for leaf in leaves)) for i in range(c.groups)]

        def launch(i):
            grads = torch.autograd.grad(done[i], [x[i] for x in leaves], [u[i] for u in upstream], retain_graph=True)
            return dict(zip(names, grads))

        return launch

    match c.__dict__["pass"]:
        case "fwd":
            return forward(norm_, ["y"], *inputs(c, 1))
        case "add_fwd":
            return forward(add_, ["s", "y"], *inputs(c, 2))
        case "gated_fwd":
            return forward(gated_, ["y"], *inputs(c, 2))
        case "bwd":
            x, dy, w = inputs(c, 2)
            return backward(norm_, ["dx", "dw"], [x, w], [dy])
        case "add_bwd":  # s is x plus nothing; r would get the gradient of x once more
            s, dy, ds, w = inputs(c, 3)
            zero = torch.zeros_like(s[0])

            def plus(x, w):
                return add(x, zero, w)

            return backward(torch.compile(plus, dynamic=False) if compiled else plus, ["dx", "dw"], [s, w], [ds, dy])
        case "gated_bwd":
            x, z, dy, w = inputs(c, 3)
            return backward(gated_, ["dx", "dz", "dw"], [x, z, w], [dy])


def fla(c, plain, gate):
    """flash-linear-attention's Triton kernels."""
    p, act = c.__dict__["pass"], {"silu": "swish", "sigmoid": "sigmoid"}[getattr(c, "act", "silu")]
    if p in ("fwd", "add_fwd"):
        x, *r, w = inputs(c, 1 if p == "fwd" else 2)

        def launch(i):
            y, _, _, s = plain.layer_norm_fwd(x[i], w[i], None, c.eps, residual=r[0][i] if r else None, is_rms_norm=True)
            return {"y": y, "s": s} if r else {"y": y}

        return launch
    if p in ("bwd", "add_bwd"):
        x, dy, *ds, w = inputs(c, 2 if p == "bwd" else 3)
        rstd = [plain.layer_norm_fwd(a, b, None, c.eps, is_rms_norm=True)[2] for a, b in zip(x, w)]

        def launch(i):
            dx, dw, _, _ = plain.layer_norm_bwd(
                dy=dy[i], x=x[i], weight=w[i], bias=None, rstd=rstd[i], dres=ds[0][i] if ds else None,
                has_residual=bool(ds), is_rms_norm=True, x_dtype=c.dtype)
            return {"dx": dx, "dw": dw}

        return launch
    if p == "gated_fwd":
        x, z, w = inputs(c, 2)
        return lambda i: {"y": gate.layer_norm_gated_fwd(x[i], z[i], w[i], None, act, c.eps, is_rms_norm=True)[0]}
    if p == "gated_bwd":
        x, z, dy, w = inputs(c, 3)
        rstd = [gate.layer_norm_gated_fwd(a, b, v, None, act, c.eps, is_rms_norm=True)[2] for a, b, v in zip(x, z, w)]

        def launch(i):
            dx, dz, dw, *_ = gate.layer_norm_gated_bwd(
                dy=dy[i], x=x[i], g=z[i], weight=w[i], bias=None, activation=act, eps=c.eps, rstd=rstd[i],
                is_rms_norm=True, x_dtype=c.dtype)
            return {"dx": dx, "dz": dz, "dw": dw}

        return launch
    return no(c, "fla")


def liger(c, plain, add):
    """Liger's Triton kernels. Backward leaves dy as it is (in_place=False): the other contenders' input stays, too."""
    p = c.__dict__["pass"]
    if p == "fwd":
        x, w = inputs(c, 1)
        return lambda i: {"y": plain.rms_norm_forward(x[i], w[i], c.eps, 0.0, "llama", None)[0]}
    if p == "add_fwd":
        x, r, w = inputs(c, 2)

        def launch(i):
            y, s, *_ = add.fused_add_rms_norm_forward(x[i], r[i], w[i], c.eps, 0.0, "llama")
            return {"y": y, "s": s}

        return launch
    if p == "bwd":
        x, dy, w = inputs(c, 2)
        saved = [plain.rms_norm_forward(a, b, c.eps, 0.0, "llama", None)[2:] for a, b in zip(x, w)]

        def launch(i):
            rstd, block, warps, mode = saved[i]
            dx, dw = plain.rms_norm_backward(dy[i], x[i], w[i], rstd, 0.0, mode, block, warps, False, None)
            return {"dx": dx, "dw": dw}

        return launch
    if p == "add_bwd":
        s, dy, ds, w = inputs(c, 3)
        zero = torch.zeros_like(s[0])
        saved = [add.fused_add_rms_norm_forward(a, zero, b, c.eps, 0.0, "llama")[2:] for a, b in zip(s, w)]

        def launch(i):
            rstd, block, warps, stages, mode = saved[i]
            dx, _, dw = add.fused_add_rms_norm_backward(dy[i], ds[i], s[i], w[i], rstd, 0.0, mode, block, warps, stages, False)
            return {"dx": dx, "dw": dw}

        return launch
    return no(c, "Liger")


def quack(c, lib):
    """quack's CuTe kernels."""
    p = c.__dict__["pass"]
    if p in ("fwd", "add_fwd"):
        x, *r, w = inputs(c, 1 if p == "fwd" else 2)

        def launch(i):
            y, s, _ = lib.rmsnorm_fwd(x[i], w[i], residual=r[0][i] if r else None, eps=c.eps, store_rstd=True)
            return {"y": y, "s": s} if r else {"y": y}

        return launch
    if p in ("bwd", "add_bwd"):
        x, dy, *ds, w = inputs(c, 2 if p == "bwd" else 3)
        rstd = [lib.rmsnorm_fwd(a, b, eps=c.eps, store_rstd=True)[2] for a, b in zip(x, w)]

        def launch(i):
            dx, dw, _, _ = lib.rmsnorm_bwd(x[i], w[i], dy[i], rstd[i], ds[0][i] if ds else None, has_residual=bool(ds))
            return {"dx": dx, "dw": dw}

        return launch
    return no(c, "quack")
