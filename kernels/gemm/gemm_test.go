//go:build !gotilegen

package gemm

import (
	"testing"

	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }
