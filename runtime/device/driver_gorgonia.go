//go:build gorgonia

package device

import (
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/gorgonia"
)

// openDriver opens the driver of this build.
func openDriver() (driver.Driver, error) { return gorgonia.Open() }
