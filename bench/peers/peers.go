// Package peers holds the programs that time other libraries' kernels, in Python.
package peers

import "embed"

// Files is the program: worker.py, which speaks for the harness, and a file a suite.
//
//go:embed *.py
var Files embed.FS

// Main is the file to run.
const Main = "worker.py"
