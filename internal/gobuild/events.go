package gobuild

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// readEvents reads the output of go build -json -v until it ends, and returns how many packages were begun. Before it
// reports the first of them it calls first.
func readEvents(r io.Reader, m *meter, first func()) (compiled int) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var event struct{ ImportPath, Action, Output string }
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &event) != nil:
			m.print(line)
		case event.Action != "build-output":
		case event.Output == event.ImportPath+"\n": // what -v prints
			if compiled++; compiled == 1 {
				first()
			}
			m.compile(event.ImportPath)
		default:
			m.print(event.Output)
		}
		if err != nil {
			return compiled
		}
	}
}

// readMessages reads what go says besides: the modules it downloads, which the meter counts, and what goes to the user.
func readMessages(r io.Reader, m *meter) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
			m.download(strings.TrimSpace(module))
		} else if line != "" {
			m.print(line)
		}
		if err != nil {
			return
		}
	}
}
