package tiletest

// skip is what Run.Skip returns: no failure, but the reason for a case not to run.
type skip struct{ reason string }

func (s *skip) Error() string { return "skipped: " + s.reason }

// Skip says why a case does not run on the run's device. The case returns what Skip returns, before it launches
// anything:
//
//	if r.Device.Kind() == device.Sim {
//		return r.Skip("it needs 13 GB of device memory")
//	}
//
// The result of the case tells the reason. It has no kernels, so that nothing is taken for tested by it; a case that
// launched some nevertheless fails.
func (r *Run) Skip(reason string) error { return &skip{reason} }
