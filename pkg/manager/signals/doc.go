// Package signals turns the signals that end a process into the end of a context.
//
// It is for main alone: the handler belongs to the whole process and is never taken away.
package signals
