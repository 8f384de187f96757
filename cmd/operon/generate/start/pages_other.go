//go:build !linux

package start

func releasePages() {}
