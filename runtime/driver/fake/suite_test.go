package fake

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/drivertest"
)

// The fake passes the tests of every driver.
func TestSuite(t *testing.T) {
	var d *Driver
	report := func(c driver.LaunchConfig, args unsafe.Pointer) driver.Result {
		a := (*drivertest.ReportArgs)(args)
		b := d.Bytes(a.Out, 4*drivertest.ReportWords)
		if b == nil {
			return driver.IllegalAddress
		}
		cluster := [3]uint32{max(c.Cluster[0], 1), max(c.Cluster[1], 1), max(c.Cluster[2], 1)}
		for i, w := range [drivertest.ReportWords]uint32{c.Grid[0], c.Grid[1], c.Grid[2], c.Block[0], c.Block[1], c.Block[2],
			cluster[0], cluster[1], cluster[2], c.Shared, a.Number} {
			binary.LittleEndian.PutUint32(b[4*i:], w)
		}
		return driver.Success
	}
	d = New(map[string]Kernel{drivertest.ReportKernel: report}, H200, H200)
	d.ArgBytes(drivertest.ReportKernel, int(unsafe.Sizeof(drivertest.ReportArgs{})))
	d.Variable(drivertest.ReportVariable, 8)
	drivertest.Run(t, drivertest.Machine{
		Driver: d, Immediate: true, Transparent: true,
		Image: func(*testing.T, int) []byte { return []byte("\x7fELF") },
	})
	if live := d.Live(); live["context"]+live["memory"]+live["stream"]+live["event"]+live["graph"]+live["exec"]+live["host memory"] > 0 {
		t.Errorf("the tests leave %v", live)
	}
}
