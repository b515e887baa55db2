// Package kda is Kimi Delta Attention: attention with a state of KeyDim x ValueDim a head, which each token decays by a
// gate of its own for each key channel and corrects by the delta rule.
//
// With row vectors q, k of KeyDim, v of ValueDim, the natural logarithm g <= 0 of the decay, and beta, a token does
//
//	S = diag(exp g) S              the decay
//	S = S + k^T (beta (v - k S))   the delta rule: what k reads becomes v, as far as beta says
//	o = scale q S
//
// So far it holds the reference in float64 alone: token by token, forward and backward, and by chunks, which is what
// kernels compute.
package kda
