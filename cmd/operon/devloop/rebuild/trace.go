package rebuild

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// work stands for the go command's temporary directory in what it prints with -n.
const work = "$WORK"

// A step is a call of the compiler or the linker.
type step struct {
	dir  string // where it is made; empty for the go command's own
	args []string
	// config is the text of the file after -importcfg.
	config string
}

// option returns the index of the argument after an option, or 0.
func (s step) option(name string) int {
	if i := slices.Index(s.args, name); i >= 0 && i+1 < len(s.args) {
		return i + 1
	}
	return 0
}

// A trace is what "go build -n -a" would do.
type trace struct {
	compile map[string]step // by the archive that it makes
	link    step
}

// readTrace reads what "go build -n -a" prints. The steps that it does not understand are not in the trace.
func readTrace(text string) (trace, error) {
	t := trace{compile: map[string]step{}}
	configs := map[string]string{}
	lines := strings.Split(text, "\n")
	dir := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if to, ok := strings.CutPrefix(line, "cd "); ok {
			if dir = to; dir == "." {
				dir = ""
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "cat >"); ok {
			name, _, ok := strings.Cut(rest, " << 'EOF'")
			// A text without a newline at its end has it in its last line.
			end := slices.IndexFunc(lines[i:], func(line string) bool { return strings.HasSuffix(line, "EOF") })
			if !ok || end < 0 {
				return t, fmt.Errorf("go build -n: %q has no end", line)
			}
			configs[name] = strings.Join(lines[i+1:i+end], "\n") + "\n"
			i += end
			continue
		}
		args, err := splitLine(line)
		if err != nil || len(args) == 0 {
			continue // a command of the shell, or one for a C compiler
		}
		s := step{dir: dir, args: args}
		importcfg := s.option("-importcfg")
		if importcfg == 0 {
			continue
		}
		s.config = configs[args[importcfg]]
		switch tool := args[0][strings.LastIndexAny(args[0], `/\`)+1:]; tool {
		case "compile":
			if out := s.option("-o"); out > 0 {
				t.compile[args[out]] = s
			}
		case "link":
			t.link = s
		}
	}
	if t.link.args == nil {
		return t, fmt.Errorf("go build -n: there is no call of the linker")
	}
	return t, nil
}

// splitLine splits a command as the go command prints it: separated by spaces, with arguments in Go's quotes where it is necessary, after
// settings of GOROOT, which is in the environment anyway.
func splitLine(line string) ([]string, error) {
	var args []string
	for line != "" {
		switch {
		case line[0] == ' ':
			line = line[1:]
		case line[0] == '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			arg, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			args, line = append(args, arg), line[len(quoted):]
		case len(args) == 0 && strings.HasPrefix(line, "GOROOT='"):
			_, after, ok := strings.Cut(line[len("GOROOT='"):], "' ")
			if !ok {
				return nil, fmt.Errorf("no end of a quotation: %s", line)
			}
			line = after
		default:
			end := strings.IndexByte(line, ' ')
			if end < 0 {
				end = len(line)
			}
			args, line = append(args, line[:end]), line[end:]
		}
	}
	return args, nil
}

// inConfig calls file for each package of an import configuration, with the path of its archive.
func inConfig(config string, file func(path, archive string)) {
	for line := range strings.Lines(config) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "packagefile "); ok {
			if path, archive, ok := strings.Cut(rest, "="); ok {
				file(path, archive)
			}
		}
	}
}

// withArchives is an import configuration with other archives.
func withArchives(config string, archives map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(config) {
		if rest, ok := strings.CutPrefix(line, "packagefile "); ok {
			path, _, _ := strings.Cut(rest, "=")
			line = "packagefile " + path + "=" + archives[path] + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
