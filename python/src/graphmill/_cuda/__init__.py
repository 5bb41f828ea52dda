"""Batches that are drawn on a graphics card, for ``NodeLoader(executor="cuda")``: the draws of the law by kernels of Triton, the rest by torch.

`Card` is what the loader uses. torch and Triton are imported by these modules alone, which the loader imports when it needs them.
"""
