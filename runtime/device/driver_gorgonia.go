//go:build gorgonia

package device

import (
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/gorgonia"
)

// OpenDriver opens the driver of this build, as Open does for a GPU: libcuda by dlopen, or gorgonia.org/cu with
// -tags gorgonia. It has no context yet.
func OpenDriver() (driver.Driver, error) { return gorgonia.Open() }
