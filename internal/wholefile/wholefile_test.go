package wholefile

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), nil); err == nil {
		t.Error("a directory was replaced")
	}
	socket := filepath.Join(dir, "s") // stands for devices, which a mistake here would replace
	if l, err := net.Listen("unix", socket); err == nil {
		defer l.Close()
		if err := Write(socket, nil); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("in place of a socket: %v", err)
		}
	}
	link := filepath.Join(dir, "l")
	if err := os.Symlink("f", link); err == nil {
		err := Write(link, []byte("three"))
		got, _ := os.ReadFile(path)
		if info, _ := os.Lstat(link); err != nil || string(got) != "three" || info.Mode().IsRegular() {
			t.Errorf("by a link: %v, %q, the link is %v", err, got, info.Mode())
		}
	}
	if err := Write(filepath.Join(dir, "none", "f"), nil); err == nil {
		t.Error("a file in a missing directory was written")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files stay behind: %v", left)
	}
}
