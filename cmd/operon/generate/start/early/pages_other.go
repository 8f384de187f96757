//go:build !linux

package early

import "time"

// Pages are where the program's file is mapped. They are known on Linux only.
type Pages struct{}

// ProgramPages finds none.
func ProgramPages() Pages { return Pages{} }

// Release does nothing.
func (Pages) Release() {}

// KeepReleased does nothing.
func (Pages) KeepReleased(time.Duration) (stop func()) { return func() {} }
