"""Matrix products by cuBLAS, through PyTorch: the inputs are A and B, as the form has them; the output is d."""

import torch


def load(family):
    """The versions of a family's libraries and its arms."""
    version = torch.version.cuda
    return [f"cuda {version}"], {"cublas": cublas}


def cublas(c):
    """torch.mm into memory of each group."""
    a = c.input(0, *((c.k, c.m) if c.form[0] == "T" else (c.m, c.k)))
    b = c.input(1, *((c.n, c.k) if c.form[1] == "T" else (c.k, c.n)))
    a = [x.t() for x in a] if c.form[0] == "T" else a
    b = [x.t() for x in b] if c.form[1] == "T" else b
    d = [torch.empty(c.m, c.n, dtype=c.dtype, device="cuda") for _ in range(c.groups)]

    def launch(i):
        torch.mm(a[i], b[i], out=d[i])
        return {"d": d[i]}

    return launch
