package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fakePeer in the environment makes the test binary a peer's process, which behaves as its family's name says.
const fakePeer = "BENCH_TEST_FAKE_PEER"

func TestMain(m *testing.M) {
	if os.Getenv(fakePeer) != "" {
		pretend(os.Args[len(os.Args)-2])
		return
	}
	os.Exit(m.Run())
}

// pretend is a peer. What it "computes" is 1, 2, 3, ...
func pretend(family string) {
	id := 0
	say := func(format string, args ...any) { // an object, with the number of the message
		fmt.Println(strings.Replace(fmt.Sprintf(format, args...), "{", fmt.Sprintf(`{"id":%d,`, id), 1))
	}
	if family == "missing" {
		say(`{"error":"ModuleNotFoundError: No module named 'missing'"}`)
		return
	}
	say(`{"versions":%q}`, family+" 1.0")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID      int
			Op, Arm string
			Case    struct{ Size int }
			Groups  int
			Count   int
			Checks  []Check
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		id = m.ID
		switch m.Op {
		case "prepare":
			switch {
			case family == "dies":
				fmt.Fprintln(os.Stderr, "Segmentation fault")
				os.Exit(1)
			case family == "hangs":
				time.Sleep(time.Hour)
			case family == "orphans": // a child keeps its output open
				child := exec.Command("sleep", "60")
				child.Stdout, child.Stderr = os.Stdout, os.Stderr
				if err := child.Start(); err != nil {
					panic(err)
				}
				fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
				os.Exit(1)
			case family == "endless":
				for x := make([]byte, 1<<20); ; {
					if _, err := os.Stdout.Write(x); err != nil {
						fmt.Fprintln(os.Stderr, "nobody reads")
						os.Exit(1)
					}
				}
			case family == "babbles":
				say("warning: compiling")
			case family == "declines":
				say(`{"arms":{"declines":{"error":"RuntimeError: no feature dim %d"}}}`, m.Case.Size)
			default:
				say(`{"arms":{%q:{"graph":%t}}}`, family, family != "plain")
			}
		case "replay":
			switch family {
			case "nan":
				say(`{"us":NaN}`)
			case "null":
				fmt.Println("null")
			case "timeless":
				say(`{"us":-0.0}`)
			case "twice":
				say(`{"us":%d}`, 3*m.Count*2)
				fallthrough
			default:
				say(`{"us":%d}`, 3*m.Count*2)
			}
		case "read":
			x := make([]float64, m.Checks[0].Count)
			for i := range x {
				x[i] = float64(m.Checks[0].At + i + 1)
			}
			switch family {
			case "errs":
				x[len(x)-1] = 0
			case "short":
				x = x[1:]
			}
			text, _ := json.Marshal([][]float64{x})
			say(`{"values":%s}`, text)
		case "free":
			say(`{"free":true}`)
		}
	}
}

// pretended are peers of one arm each.
func pretended(t *testing.T, families ...string) *Peers {
	t.Setenv(fakePeer, "1")
	p := &Peers{Files: fstest.MapFS{"peer.py": {Data: []byte("# not run")}}, Main: "peer.py"}
	for i, f := range families {
		p.Families = append(p.Families, Family{Name: f, Arms: []string{f}, Alone: i%2 == 1})
	}
	return p
}

// What a peer does wrong is the error of its arm; the others have times.
func TestPeers(t *testing.T) {
	all := []string{"good", "plain", "missing", "dies", "hangs", "babbles", "declines", "errs", "nan", "null", "timeless", "twice", "short", "endless"}
	s := fills(pretended(t, all...))
	out, r := runSim(t, s, Options{Python: os.Args[0], PeerLimit: 2 * time.Second})
	if len(r.Cases) != 2 {
		t.Fatalf("%d cases:\n%s", len(r.Cases), out)
	}
	want := map[string]string{
		"missing": "No module named 'missing'", "dies": "peer dies: it ended; it said: Segmentation fault", "hangs": "no answer within 2s",
		"babbles": `it answered "warning: compiling`, "declines": "no feature dim 16", "errs": "wrong: y differs by 16 from element 0 on",
		"nan": "peer nan: it answered", "null": "peer null: it answered", "timeless": "1 replays took -0 µs", "twice": "no answer to message 3",
		"endless": "peer endless: it ended", "short": "15 elements were read, not 16",
	}
	for i, c := range r.Cases {
		for name, words := range want {
			if i == 1 {
				words = strings.NewReplacer("dim 16", "dim 8", "by 16", "by 8", "15 elements", "7 elements", "not 16", "not 8").Replace(words)
			}
			if a := c.Arms[name]; !strings.Contains(a.Error, words) || a.Median != 0 {
				t.Errorf("%s: %s: %+v, want an error with %q", c.Name, name, a, words)
			}
		}
		if a := c.Arms["good"]; a.Error != "" || a.Median != 3 || a.Plain { // 2 groups
			t.Errorf("%s: good: %+v", c.Name, a)
		}
		if a := c.Arms["plain"]; a.Error != "" || !a.Plain {
			t.Errorf("%s: plain: %+v", c.Name, a)
		}
		if c.Arms["gotile"].Median <= 0 {
			t.Errorf("%s: gotile: %+v", c.Name, c.Arms["gotile"])
		}
	}
	if r.Peers["good"] != "good 1.0" || r.Peers["missing"] != "" {
		t.Errorf("versions %v", r.Peers)
	}
}

// Results are by name.
func TestPeerOfOurName(t *testing.T) {
	o := Options{Device: "sim", Plan: Plan{Rounds: 1, Replays: 1}, Python: os.Args[0], PeerLimit: time.Minute}
	if err := Run(t.Context(), fills(pretended(t, "good", "zero")), o, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "two contenders are called zero") {
		t.Errorf("error %v", err)
	}
}

// Without the interpreter, or time to prepare, nothing is measured; nor is anything said where a suite has no peers.
func TestPeersRefused(t *testing.T) {
	for _, c := range []struct {
		python string
		limit  time.Duration
		want   string
	}{
		{"no-such-python", time.Second, `-peers: exec: "no-such-python": executable file not found in $PATH; it names a Python interpreter`},
		{filepath.Join(t.TempDir(), "python3"), time.Second, "no such file or directory; it names a Python interpreter"},
		{t.TempDir(), time.Second, "; it names a Python interpreter"},
		{os.Args[0], 0, "-peer-timeout: 0s; a peer needs some time to prepare"},
		{os.Args[0], -time.Second, "-peer-timeout: -1s"},
	} {
		o := Options{Device: "sim", Plan: Plan{Rounds: 1, Replays: 1}, Out: t.TempDir(), Python: c.python, PeerLimit: c.limit}
		var out bytes.Buffer
		if err := Run(t.Context(), fills(pretended(t, "good")), o, &out); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: error %v, want %q; %s", c.python, err, c.want, &out)
		}
		if left, _ := os.ReadDir(o.Out); len(left) > 0 {
			t.Errorf("%s: wrote %v", c.python, left)
		}
		if err := Run(t.Context(), fills(nil), o, &out); err != nil {
			t.Errorf("%s, without peers: %v", c.python, err)
		}
	}
}

// A process that dies is started again for the next benchmark, a few times.
func TestRestarts(t *testing.T) {
	families, err := pretended(t, "dies").families(t.Context(), os.Args[0], "s", "0", t.TempDir(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f := families[0]
	for i := range crashes + 2 {
		turns := f.turns(t.Context(), &Benchmark{Peer: map[string]any{"size": 1}}, 2)
		want := "Segmentation fault"
		if i >= crashes {
			want = "its process failed 3 times"
		}
		if err := turns[0].err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("time %d: %v", i, err)
		}
	}
}

// A process that ends is seen to, although a child of it has its output open.
func TestPeerLeavesAChild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sleep")
	}
	families, err := pretended(t, "orphans").families(t.Context(), os.Args[0], "s", "0", t.TempDir(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	turns := families[0].turns(t.Context(), &Benchmark{Peer: map[string]any{"size": 1}}, 2)
	if err := turns[0].err; err == nil || !strings.Contains(err.Error(), "peer orphans: it ended; it said: child ") {
		t.Errorf("error %v", err)
	} else if pid := regexp.MustCompile(`child (\d+)`).FindStringSubmatch(err.Error()); pid != nil {
		n, _ := strconv.Atoi(pid[1])
		child, _ := os.FindProcess(n)
		child.Kill()
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("took %v", d)
	}
}
