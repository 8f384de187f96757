//go:build !linux

package early

// keepPagesFew does nothing: how to is known on Linux only.
func keepPagesFew() {}
