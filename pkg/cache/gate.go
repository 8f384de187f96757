package cache

import "sync"

// gate is an event that happens once.
type gate struct {
	once sync.Once
	ch   chan struct{}
}

func newGate() *gate                  { return &gate{ch: make(chan struct{})} }
func (g *gate) open()                 { g.once.Do(func() { close(g.ch) }) }
func (g *gate) Done() <-chan struct{} { return g.ch }
func (g *gate) isOpen() bool {
	select {
	case <-g.ch:
		return true
	default:
		return false
	}
}
