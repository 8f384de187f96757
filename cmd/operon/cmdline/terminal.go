package cmdline

import (
	"os"

	"golang.org/x/term"
)

// OnTerminal reports whether a stream, an [io.Reader] or an [io.Writer], is a terminal.
func OnTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Coloured reports whether what is written to a stream is seen in colours: it is a terminal that has some, and NO_COLOR (no-color.org) is not set.
func Coloured(stream any) bool {
	return OnTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
