//go:build !gotilegen

package gemm

import "github.com/gotile/gotile/runtime/device"

// params are the parameters of any kernel.
type params nnTma128Params

// launchers are the launches of the kernels, by size and form.
var launchers = map[string][len(Forms)]func(*device.Stream, params) error{
	"tma128": {
		NN: func(s *device.Stream, p params) error { return launchNnTma128(s, nnTma128Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtTma128(s, ntTma128Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnTma128(s, tnTma128Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtTma128(s, ttTma128Params(p)) },
	},
	"async128": {
		NN: func(s *device.Stream, p params) error { return launchNnAsync128(s, nnAsync128Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtAsync128(s, ntAsync128Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnAsync128(s, tnAsync128Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtAsync128(s, ttAsync128Params(p)) },
	},
	"async64": {
		NN: func(s *device.Stream, p params) error { return launchNnAsync64(s, nnAsync64Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtAsync64(s, ntAsync64Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnAsync64(s, tnAsync64Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtAsync64(s, ttAsync64Params(p)) },
	},
	"wgmma128x192": {
		NN: func(s *device.Stream, p params) error { return launchNnWgmma128x192(s, nnWgmma128x192Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtWgmma128x192(s, ntWgmma128x192Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnWgmma128x192(s, tnWgmma128x192Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtWgmma128x192(s, ttWgmma128x192Params(p)) },
	},
	"wgmma128x256": {
		NN: func(s *device.Stream, p params) error { return launchNnWgmma128x256(s, nnWgmma128x256Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtWgmma128x256(s, ntWgmma128x256Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnWgmma128x256(s, tnWgmma128x256Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtWgmma128x256(s, ttWgmma128x256Params(p)) },
	},
	"wgmma128x128": {
		NN: func(s *device.Stream, p params) error { return launchNnWgmma128x128(s, nnWgmma128x128Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtWgmma128x128(s, ntWgmma128x128Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnWgmma128x128(s, tnWgmma128x128Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtWgmma128x128(s, ttWgmma128x128Params(p)) },
	},
}
