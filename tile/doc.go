// Package tile is a language for GPU kernels inside Go: typed tiles in registers, loads and stores that know their
// ragged edges, loops that are recorded. Define runs an ordinary Go function once and records what it does; the result
// is printed as CUDA C, simulated, or wrapped for launch by other packages.
//
// A value of the language (Reg, Index, Global, ...) stands for something on the GPU. Go's if, for and == see only Go
// values, so they decide what is recorded: a Go loop unrolls. What the GPU decides is written with Range, Persistent,
// If, While and Var.
package tile

//go:generate go run ../internal/opgen -root ..
