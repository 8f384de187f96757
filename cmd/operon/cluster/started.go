package cluster

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// mainStarted is when this package was initialised, late in the start of a large program.
var mainStarted = time.Now()

// started is when the process began, as exactly as the system tells: what a person waits for includes loading the program.
func started() time.Time {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return mainStarted
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return mainStarted
	}
	now := time.Now()
	// The program's name, in parentheses, may hold anything; the start time is the twentieth field after it, in hundredths of a
	// second since the system was started.
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return mainStarted
	}
	ticks, err := strconv.ParseFloat(fields[19], 64)
	if err != nil {
		return mainStarted
	}
	up, err := strconv.ParseFloat(strings.Fields(string(uptime))[0], 64)
	if err != nil {
		return mainStarted
	}
	began := now.Add(-time.Duration((up - ticks/100) * float64(time.Second)))
	if began.After(mainStarted) || mainStarted.Sub(began) > time.Minute {
		return mainStarted
	}
	return began
}
