// Package receipts holds the receipts of package optest as files: which of its cases ran on which GPU. It imports
// nothing, so that what wants to know need not link the kernels.
package receipts

import "embed"

// Files are the receipts, GPU.json.
//
//go:embed *.json
var Files embed.FS
