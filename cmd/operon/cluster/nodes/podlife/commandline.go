package podlife

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// course is what a container is known to do although its program is not run.
type course struct {
	forever  bool
	lasts    time.Duration
	exitCode int32
}

// maxLasting bounds how long a container sleeps, so that sums of times do not overflow. It is longer than any cluster lives.
const maxLasting = 100 * 365 * 24 * time.Hour

// courseOf reads the container's command line, as far as it is made of what is plain without running it: sleep, true, false, "tail -f /dev/null",
// and shell scripts of nothing but these, echo, exit, a trap of SIGTERM and an endless "while true". The pause image waits forever. ok is false for everything else,
// also for a script of which only a part is plain.
func courseOf(c *corev1.Container) (_ course, ok bool) {
	argv := slices.Concat(c.Command, c.Args)
	if len(argv) == 0 {
		return course{forever: true}, imageName(c.Image) == "pause"
	}
	if script, is := shellScript(argv); is {
		return scriptCourse(script)
	}
	var s script
	if !s.command(argv) {
		return course{}, false
	}
	return s.course, true
}

// imageName is the last part of an image's repository.
func imageName(image string) string {
	name, _, _ := strings.Cut(path.Base(image), "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// shellScript returns the script of a command line such as sh -c SCRIPT.
func shellScript(argv []string) (string, bool) {
	if len(argv) < 3 || !slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(argv[0])) {
		return "", false
	}
	return argv[2], argv[1] == "-c" || argv[1] == "-ec"
}

// script follows one statement after the other.
type script struct {
	course
	ended bool
}

func scriptCourse(text string) (course, bool) {
	text, loop := cutLoop(text)
	var s script
	statements := strings.FieldsFunc(strings.ReplaceAll(text, "&&", ";"), func(r rune) bool { return r == ';' || r == '\n' })
	for i, statement := range statements {
		words := strings.Fields(statement)
		switch {
		case len(words) == 0:
		case s.exitCode != 0, !s.statement(statement, words):
			// What comes after a failure depends on how the two are joined.
			return course{}, false
		case s.ended || s.forever:
			// The rest is not reached, unless a quotation began further up and this is text in it.
			return s.course, !strings.ContainsAny(strings.Join(statements[i+1:], "")+loop, "\"'")
		}
	}
	if loop != "" {
		s.forever = true
		return s.course, s.exitCode == 0 && endless(loop)
	}
	return s.course, true
}

func (s *script) statement(text string, words []string) bool {
	switch words[0] {
	case "echo":
		return !strings.ContainsAny(text, "`()<>|&\\#?") && strings.Count(text, `"`)%2 == 0 && strings.Count(text, "'")%2 == 0
	case "exit":
		s.ended = true
		if len(words) == 1 {
			return true
		}
		code, err := strconv.ParseUint(words[1], 10, 8)
		s.exitCode = int32(code)
		return err == nil && len(words) == 2
	case "trap":
		// It runs when the container is told to stop, which ends the simulated program anyway.
		return len(words) > 2 && slices.Contains([]string{"TERM", "SIGTERM", "INT", "SIGINT"}, words[len(words)-1]) &&
			!strings.ContainsAny(text, "`()<>|&\\") && !strings.Contains(text, "EXIT") && !strings.Contains(text, "ERR")
	case ":":
		return len(words) == 1
	case "exec":
		s.ended = true
		return len(words) > 1 && s.command(words[1:])
	}
	return s.command(words)
}

// command follows a program with its arguments.
func (s *script) command(argv []string) bool {
	switch name, args := path.Base(argv[0]), argv[1:]; name {
	case "true":
		return len(args) == 0
	case "false":
		s.exitCode = 1
		return len(args) == 0
	case "tail":
		s.forever = true
		return len(args) == 2 && slices.Contains([]string{"-f", "-F"}, args[0]) && args[1] == "/dev/null"
	case "sleep":
		return len(args) == 1 && s.sleep(args[0])
	}
	return false
}

// sleep reads a time as coreutils does: a number of seconds, or one with a unit.
func (s *script) sleep(text string) bool {
	if text == "infinity" || text == "inf" {
		s.forever = true
		return true
	}
	unit := time.Second
	if units, last := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}, len(text)-1; last > 0 && units[text[last]] != 0 {
		unit, text = units[text[last]], text[:last]
	}
	if strings.Trim(text, "0123456789.") != "" {
		return false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) {
		return false
	}
	s.lasts = time.Duration(min(float64(s.lasts)+n*float64(unit), float64(maxLasting)))
	return true
}

// cutLoop cuts the script before a loop that goes on while true is true.
func cutLoop(text string) (before, loop string) {
	for _, head := range []string{"while true;", "while :;"} {
		if i := strings.Index(text, head); i >= 0 {
			return text[:i], text[i+len(head):]
		}
	}
	return text, ""
}

// endless says whether nothing leaves the loop, given from its "do" on, and nothing follows it.
func endless(loop string) bool {
	loop = strings.Trim(loop, " \t\n;")
	if !strings.HasPrefix(loop, "do") || !strings.HasSuffix(loop, "done") || strings.Count(loop, "done") != 1 {
		return false
	}
	return !slices.ContainsFunc([]string{"break", "exit", "return", "kill", "exec", "set "}, func(way string) bool {
		return strings.Contains(loop, way)
	})
}
