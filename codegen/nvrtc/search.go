package nvrtc

import (
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Variable is the environment variable that names the library's file.
const Variable = "GOTILE_NVRTC"

// loaderNames are what the system's loader is asked for, newest first.
var loaderNames = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}

// candidates lists what Open tries, in order, and the folders, as patterns, where it looked for files. A path that was
// given, or the variable, is tried alone: a user who names a library must not get another one silently. env looks up
// an environment variable; glob lists files.
func candidates(path string, env func(string) string, glob func(string) []string) (files, folders []string) {
	if path != "" {
		return []string{path}, nil
	}
	if p := env(Variable); p != "" {
		return []string{p}, nil
	}
	files = append(files, loaderNames...)
	search := func(dirs ...string) {
		var found []string
		for _, dir := range dirs {
			found = append(found, glob(dir+"/libnvrtc.so.*")...)
		}
		files, folders = append(files, newestFirst(found)...), append(folders, dirs...)
	}
	for _, dir := range toolkitDirs(env) {
		search(dir)
	}
	for _, site := range Wheels(env) {
		// CUDA 13 wheels share one folder, CUDA 12 wheels have one each.
		search(site+"/nvidia/cu*/lib", site+"/nvidia/cuda_nvrtc/lib")
	}
	return files, folders
}

// toolkitDirs are the library folders of CUDA toolkits.
func toolkitDirs(env func(string) string) []string {
	var out []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if d := env(v); d != "" {
			out = append(out, d+"/lib64", d+"/targets/*/lib")
		}
	}
	return append(out, "/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64")
}

// WheelDir is the folder of wheels that are for gotile alone: gotile in the user's data directory. Empty where there is
// none. `pip install --upgrade --target` replaces what is in its folder, so each wheel has one of its own there.
func WheelDir(env func(string) string) string {
	if d := env("XDG_DATA_HOME"); d != "" {
		return d + "/gotile"
	}
	if home := env("HOME"); home != "" {
		return home + "/.local/share/gotile"
	}
	return ""
}

// Wheels are the folders, as patterns, where pip installs: gotile's own, the active environment's, the user's, the
// system's.
func Wheels(env func(string) string) []string {
	var out []string
	if d := WheelDir(env); d != "" {
		out = append(out, d+"/*")
	}
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if d := env(v); d != "" {
			out = append(out, d+"/lib/python3*/site-packages")
		}
	}
	if home := env("HOME"); home != "" {
		out = append(out, home+"/.local/lib/python3*/site-packages")
	}
	return append(out, "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages",
		"/usr/lib/python3*/site-packages", "/usr/lib/python3/dist-packages")
}

// newestFirst drops the alternative builds that wheels carry and orders files by the numbers in their names, the
// greatest first, then by path.
func newestFirst(files []string) []string {
	var out []string
	for _, f := range files {
		if !strings.Contains(filepath.Base(f), ".alt.") {
			out = append(out, f)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := version(out[i]), version(out[j])
		for k := 0; k < len(a) && k < len(b); k++ {
			if a[k] != b[k] {
				return a[k] > b[k]
			}
		}
		if len(a) != len(b) {
			return len(a) < len(b) // libnvrtc.so.13 before what it links to: the same file
		}
		return out[i] < out[j]
	})
	return out
}

// version gives the numbers behind ".so.".
func version(file string) []int {
	_, tail, _ := strings.Cut(filepath.Base(file), ".so.")
	var out []int
	for part := range strings.SplitSeq(tail, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
