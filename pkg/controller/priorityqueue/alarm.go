package priorityqueue

import "time"

// instant is a moment, as the time since the queue was made.
type instant = time.Duration

// alarm calls a function at a moment that can be moved. The lock of the queue it belongs to guards it.
type alarm struct {
	ring  func()
	timer *time.Timer
	at    instant // when it rings next, if it is set
	set   bool
	calls int // calls of ring that are still to come or have not taken the lock yet
}

// setTo makes the alarm ring in d, at the moment at, instead of when it would have.
func (a *alarm) setTo(at instant, d time.Duration) {
	a.at, a.set = at, true
	switch {
	case a.timer == nil:
		a.timer = time.AfterFunc(d, a.ring)
		a.calls++
	case !a.timer.Reset(d):
		a.calls++
	}
}

// rang is what ring has to call first, once it has the lock.
func (a *alarm) rang() {
	a.calls--
	a.set = a.calls > 0
}

func (a *alarm) stop() {
	if a.timer != nil && a.timer.Stop() {
		a.calls--
	}
	a.set = false
}
