//go:build !linux

package early

import "time"

// ProgramPages are where the program's file is mapped. They are known on Linux only.
type ProgramPages struct{}

// FindProgramPages finds none.
func FindProgramPages() ProgramPages { return ProgramPages{} }

// KeepFew does nothing.
func (ProgramPages) KeepFew(time.Duration) (stop func()) { return func() {} }
