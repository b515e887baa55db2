//go:build !gotilegen

package attention

import (
	"testing"

	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }
