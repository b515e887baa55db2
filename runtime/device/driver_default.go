//go:build !gorgonia

package device

import "github.com/gotile/gotile/runtime/driver"

// openDriver opens the driver of this build.
func openDriver() (driver.Driver, error) { return driver.Open() }
