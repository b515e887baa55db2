package peers_test

import (
	"fmt"
	"io/fs"

	"github.com/gotile/gotile/bench/peers"
)

// A suite names Files and Main in its bench.Peers; the harness unpacks the files and runs Main.
func ExampleFiles() {
	_, err := fs.Stat(peers.Files, peers.Main)
	fmt.Println(peers.Main, err)
	// Output: worker.py <nil>
}
