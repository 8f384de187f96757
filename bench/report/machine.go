package report

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine says on what was measured: processor, cores, system, Go, and the load of the last minute where it is known.
func machine() string {
	line := fmt.Sprintf("%s, %d CPUs, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		if minute, _, ok := strings.Cut(string(load), " "); ok {
			line += ", load " + minute
		}
	}
	return line
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
