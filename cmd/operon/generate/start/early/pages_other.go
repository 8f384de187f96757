//go:build !linux

package early

// programPages are where the program's file is mapped, which is known on Linux only.
type programPages struct{}

func findProgramPages() programPages { return programPages{} }
func (programPages) keepFew()        {}
func (programPages) release()        {}
