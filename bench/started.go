package main

import "context"

// started is something with the life of a cache, while it runs.
type started struct {
	cancel context.CancelFunc
	ended  chan error
}

// start runs a Start method; stop ends it and waits for it.
func start(ctx context.Context, run func(context.Context) error) *started {
	ctx, cancel := context.WithCancel(ctx)
	s := &started{cancel: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- run(ctx) }()
	return s
}

func (s *started) stop() error {
	s.cancel()
	return <-s.ended
}

// runningCache is the life of a cache of either library.
type runningCache interface {
	Start(context.Context) error
	WaitForCacheSync(context.Context) bool
}

// startCache starts a cache and returns when it can be read. When ctx ends first,
// the reads say so.
func startCache(ctx context.Context, c runningCache) *started {
	s := start(ctx, c.Start)
	c.WaitForCacheSync(ctx)
	return s
}
